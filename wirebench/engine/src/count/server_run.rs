//! One server run, from exec to exit, with a fixed number of requests, one at a time.
//!
//! Checks readiness in lock step: otherwise number and timing of the checks would change the state of the server's heap
//! before the load.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::count::program::{ServerProgram, examine};
use crate::count::relay::{Relay, Wire};
use crate::count::threads::GroupThreads;
use crate::count::tool::ToolOutput;
use crate::count::tool::{Detail, Tool, Toolbox};
use crate::count::variant_runs::EndedRun;
use crate::count::{busy, work};
use crate::measure::cores::Cores;
use crate::measure::drive::Drive;
use crate::measure::error::{MeasureError, written};
use crate::measure::process::{Ending, Group};
use crate::measure::ready::is_ready;
use crate::measure::request::Request;
use crate::measure::side::Side;
use crate::measure::slot::{Harness, files};
use crate::measure::staging::{LAYOUTS, at_layout};
use crate::measure::target::{LaunchContext, Target};
use crate::measure::{port, values};
use crate::normalise::{self, Jq};
use wirebench_declare::args::Value;
use wirebench_declare::plan::PlannedSeries;
use wirebench_declare::runtime::Runtime;
use wirebench_declare::scenario::Amount;
use wirebench_declare::server::{Ready, Server};
use wirebench_declare::span::Span;

/// How long a server may take to end after SIGTERM: the tools write their counts at its end.
const END_TIMEOUT: Duration = Duration::from_secs(20);
/// How long a server is observed without requests.
const IDLE: Duration = Duration::from_millis(60);

/// The parameters of one run of a server.
#[derive(Debug, Clone, Copy)]
pub struct ServerRun<'a> {
    /// The series.
    pub series: &'a PlannedSeries<'a>,
    /// The side whose server runs.
    pub side: &'a Side,
    /// The tool under which it runs.
    pub tool: Tool,
    /// Requests that the driver sends.
    pub requests: u64,
    /// The runtime that counts, of runs under [`Tool::Runtime`]; of runs under callgrind, the one whose environment lets it.
    pub runtime: Option<&'a Runtime>,
    /// The start layout, an index into [`LAYOUTS`]: by how much paths and environment are lengthened.
    pub layout: usize,
    /// Whether the tool keeps call stacks.
    pub stacks: bool,
}

/// How many responses after a load have to be as long as the one before it. Of six words at random, of which three have one length,
/// that many are equally long in 1 of 500 cases.
const RESPONSES: usize = 8;

/// Facts about a server, from a run without a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct PlainFacts {
    /// Body or message bytes of a correct response; `None` if they differ from response to response.
    pub payload_bytes: Option<u64>,
    /// What kind of program it is.
    pub program: ServerProgram,
}

/// Why a server run gave no counts.
#[derive(Debug, thiserror::Error)]
pub enum ServerRunError {
    /// The run could not be made, or read.
    #[error(transparent)]
    Measure(#[from] MeasureError),
    /// The driver did not keep to one connection.
    #[error(
        "not counted: {driver} opened {connections} connections, 1 was asked for: it retries, or the server closes connections"
    )]
    Connections {
        /// The driver.
        driver: String,
        /// The connections that it opened.
        connections: u32,
        /// What a plain run found out.
        plain: Option<Box<PlainFacts>>,
    },
}

impl From<String> for ServerRunError {
    fn from(why: String) -> Self {
        Self::Measure(why.into())
    }
}

/// Variables by which runtimes without `{threads}` use one thread: of Go, of Tokio and of Rayon. With two, Tokio's instructions per request
/// differed by 3 % between equal runs (Salvo's example `hello`), with one by 0.03 %. Other programs ignore them.
const ONE_THREAD: [&str; 3] = ["GOMAXPROCS", "TOKIO_WORKER_THREADS", "RAYON_NUM_THREADS"];

impl ServerRun<'_> {
    /// Makes the run, and returns what was found out without the files of its tool, which are in `folder`, and the duration of the
    /// load, which began at a full second of the wall clock.
    ///
    /// # Errors
    /// When server, driver or relay fail, the load was another one, or the user interrupts. Nothing keeps running.
    pub fn make(
        &self,
        bench: &Harness,
        toolbox: &Toolbox,
        jq: &Jq,
        folder: &Path,
    ) -> Result<(EndedRun, Duration), ServerRunError> {
        written(folder, fs::create_dir_all(folder))?;
        let mut server = self.side.server_of(self.series);
        let slowdown = busy::slowdown(bench.cores.available);
        let front = &mut server.front;
        front.ready_timeout = Span((front.ready_timeout.0 * self.tool.ready_factor()).mul_f64(slowdown));
        for variable in ONE_THREAD {
            front.env.entry(variable.into()).or_insert_with(|| "1".into());
        }
        if let Some(runtime) = self.runtime {
            let made = work::prepare(runtime, bench.root)?;
            let root = self.side.repository.as_deref().unwrap_or(bench.root);
            let env = work::environment(
                (runtime, &runtime.env),
                &made,
                folder,
                root,
                [&front.env, &self.side.environment],
            );
            front.env.extend(written(folder, env)?);
        }
        if let Some(longer) = LAYOUTS.get(self.layout).filter(|longer| **longer > 0) {
            front.env.insert("WIREBENCH_LAYOUT".into(), "_".repeat(*longer));
        }
        let side = self.wrapped(toolbox, folder)?;
        let alone = Cores {
            available: 1,
            ..Cores::default()
        };
        let context = LaunchContext {
            cores: &alone,
            kept: None,
            ..bench.context(folder)
        };
        let mut target = Target::launch(&side, &server, &context)?;
        let group = target.front.group.local().map(Group::id);
        let group = group.expect("a run with other hosts has no counted series");
        let is_ready = ready_check(&server, &target, group);
        target.wait_until_ready(&server, &bench.interrupt, is_ready)?;
        target.send_seeds(&server)?;
        let request = bench.request(self.series, &target)?;
        // Under a tool no probe is sent: its timing would not be in lock step.
        let mut plain = match self.tool {
            Tool::Plain => Some(plain_facts(&request, &target.front.address, group)?),
            _ => None,
        };
        await_new_second();
        let began = Instant::now();
        let wire = self.drive(bench, &request, (&mut target, group), folder)?;
        let took = began.elapsed();
        self.check_load(&wire, plain.as_ref(), jq, folder)?;
        if let Some(plain) = &mut plain {
            for _ in 0..RESPONSES {
                let length = request.payload_bytes(&request.check(&target.front.address)?);
                plain.payload_bytes.take_if(|first| *first != length);
            }
        }
        let ended = written(folder, target.end(END_TIMEOUT.mul_f64(slowdown), self.ending()))?;
        if !ended && self.tool != Tool::Plain {
            return Err(ServerRunError::from(format!(
                "the server was still running {END_TIMEOUT:?} after SIGTERM, so that {} wrote no counts; let it end on SIGTERM",
                self.tool.name()
            )));
        }
        let ended = EndedRun {
            requests: self.requests,
            layout: u32::try_from(self.layout).unwrap_or(u32::MAX),
            wire,
            output: ToolOutput {
                plain,
                ..ToolOutput::default()
            },
        };
        Ok((ended, took))
    }

    /// The side with its server's command at the start layout and under the tool.
    fn wrapped(&self, toolbox: &Toolbox, folder: &Path) -> Result<Side, ServerRunError> {
        let mut side = self.side.clone();
        let name = &self.series.server.name;
        let home = side.stage.clone();
        if let Some(command) = side.programs.get_mut(name) {
            let program = at_layout(&command[0], home.as_deref(), self.layout);
            command[0] = written(Path::new(&command[0]), program)?;
            *command = toolbox.wrap(self.tool, command, folder, self.detail());
        }
        Ok(side)
    }

    fn ending(&self) -> Ending {
        match self.tool {
            Tool::PerfStat | Tool::Strace => Ending::Traced,
            Tool::Callgrind if self.runtime.is_some() => Ending::Aborted,
            _ => Ending::Asked,
        }
    }

    /// What the tool keeps.
    fn detail(&self) -> Detail {
        match (self.stacks, self.runtime) {
            // Goroutines lose their callers: those that callgrind keeps are wrong for half of what a function costs.
            (_, Some(_)) => Detail::Functions,
            (true, None) => Detail::Stacks,
            (false, None) => Detail::Total,
        }
    }

    /// Runs the driver against the server, whose process group has this id, through a relay.
    fn drive(
        &self,
        bench: &Harness,
        request: &Request,
        (target, group): (&mut Target, i32),
        folder: &Path,
    ) -> Result<Wire, ServerRunError> {
        let relay_error = |error| format!("the relay between driver and server: {error}");
        let relay = Relay::start(&target.front.address, group).map_err(relay_error)?;
        written(folder, files::write(request, folder))?;
        let mut values = bench.values_at(self.series, &relay.address, &target.ca, folder);
        values::set_amount(&mut values, &Amount::Requests(self.requests));
        values::fill_request(&mut values, self.series, &target.captured);
        // A gRPC request contains its deadline, in microseconds left, so that each request would be different.
        values.insert("request_timeout", Value::One("0s".into()));
        let mut drive = Drive {
            timeout: self.timeout().mul_f64(busy::slowdown(bench.cores.available)),
            driver_cores: 1,
            server_cores: 1,
            group: Some(&relay.driver),
            ..bench.driver_run(self.series, folder, &values)?
        };
        drive.launch.cores = &[];
        drive.run(Some(target), None, &bench.interrupt)?;
        Ok(relay.finish().map_err(relay_error)?)
    }

    /// Under a tool, a request to a server that can be counted takes a few milliseconds at most, on a machine with a free core.
    fn timeout(&self) -> Duration {
        Duration::from_secs(30) + Duration::from_millis(10) * u32::try_from(self.requests).unwrap_or(u32::MAX)
    }

    /// Checks that the driver sent the planned requests and got all responses.
    fn check_load(
        &self,
        wire: &Wire,
        plain: Option<&PlainFacts>,
        jq: &Jq,
        folder: &Path,
    ) -> Result<(), ServerRunError> {
        let driver = &self.series.driver.name;
        let shape = normalise::read(
            jq,
            self.series.driver,
            &folder.join(files::STDOUT),
            &folder.join(files::RAW),
        )?;
        let good = normalise::good_status(self.series);
        let (good, errors) = normalise::good_and_bad(shape.answers, shape.errors, &good);
        if let Some((what, count)) = errors.iter().next() {
            let message = format!("{driver}: {count} of {} requests failed: {what}", self.requests);
            return Err(message.into());
        }
        if good.len() as u64 != self.requests {
            let message = format!(
                "{driver} sent {} requests, {} were asked for",
                good.len(),
                self.requests
            );
            return Err(message.into());
        }
        // What functions do is the same over any connection.
        if wire.connections != 1 && self.tool != Tool::Runtime {
            return Err(ServerRunError::Connections {
                driver: driver.clone(),
                connections: wire.connections,
                plain: plain.cloned().map(Box::new),
            });
        }
        Ok(())
    }
}

/// Waits for the wall clock to begin a second, so that most loads lie within one. Servers do some things once a second:
/// a new Date header alone makes every later HTTP/2 response more expensive, by one more entry in the header table.
fn await_new_second() {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    std::thread::sleep(Duration::from_secs(1) - Duration::from_nanos(now.subsec_nanos().into()));
}

/// Checks a response, and examines the server's program.
fn plain_facts(request: &Request, address: &str, group: i32) -> Result<PlainFacts, ServerRunError> {
    let response = request.check(address)?;
    Ok(PlainFacts {
        payload_bytes: Some(request.payload_bytes(&response)),
        program: examine(group, idle_share(group)),
    })
}

/// The share of a core that a server uses without requests.
fn idle_share(group: i32) -> f64 {
    let mut threads = GroupThreads::group(group);
    let before = threads.cpu_ns();
    std::thread::sleep(IDLE);
    let used = Duration::from_nanos(threads.cpu_ns().saturating_sub(before));
    used.as_secs_f64() / IDLE.as_secs_f64()
}

/// Checks once whether a server, whose process group has this id, is ready, through a relay, and not before it listens.
pub(super) fn ready_check(server: &Server, target: &Target, group: i32) -> impl Fn() -> Result<(), String> + use<> {
    let (ready, protocol) = (server.front.ready.clone(), server.protocols[0]);
    let (address, ca) = (target.front.address.clone(), target.ca.clone());
    let port = address.rsplit(':').next().and_then(|port| port.parse().ok());
    move || {
        let listened_on = port.is_some_and(port::is_listened_on);
        if !listened_on {
            return Err(format!("nobody listens on {address}"));
        }
        if matches!(ready, Ready::Tcp(_)) {
            return Ok(());
        }
        let relay = Relay::start(&address, group).map_err(|error| error.to_string())?;
        let checked = is_ready(&ready, &relay.address, protocol, &ca);
        relay.finish().map_err(|error| error.to_string())?;
        checked
    }
}
