//! One server run, from exec to exit, with a fixed number of requests, one at a time.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::count::busy;
use crate::count::program::{ServerProgram, examine};
use crate::count::ready;
use crate::count::relay::Relay;
use crate::count::threads::GroupThreads;
use crate::count::tool::{Detail, Tool, Toolbox};
use crate::count::wire::Wire;
use crate::count::work;
use crate::measure::cores::Cores;
use crate::measure::drive::Drive;
use crate::measure::process::{Ending, Launch};
use crate::measure::request::Request;
use crate::measure::side::Side;
use crate::measure::slot::{Harness, SlotError, files};
use crate::measure::staging::{LAYOUTS, at_layout};
use crate::measure::target::{LaunchContext, Target};
use crate::measure::values::{self, Locations};
use crate::normalise::{self, Jq};
use wirebench_declare::args::Value;
use wirebench_declare::plan::PlannedSeries;
use wirebench_declare::runtime::Runtime;
use wirebench_declare::scenario::Amount;
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

/// The results of a server run, except the tool's own files.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerRunResult {
    /// The traffic with the driver.
    pub wire: Wire,
    /// The duration of the load, which began at a full second of the wall clock.
    pub took: Duration,
    /// The facts that only a plain run finds out.
    pub plain: Option<PlainFacts>,
}

/// Facts about a server, from a run without a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct PlainFacts {
    /// Body or message bytes of one correct response.
    pub payload_bytes: u64,
    /// What kind of program it is.
    pub program: ServerProgram,
}

/// Why a server run cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ServerRunError {
    /// Server or driver failed.
    #[error(transparent)]
    Slot(#[from] SlotError),
    /// The relay failed.
    #[error("the relay between driver and server: {0}")]
    Relay(std::io::Error),
    /// The output of the driver cannot be read.
    #[error(transparent)]
    Normalise(#[from] normalise::NormaliseError),
    /// The server runs on another host.
    #[error("a server on another host is not counted; count it without --server-host")]
    Elsewhere,
    /// The runtime cannot be made to count.
    #[error("{0}")]
    Prepare(String),
    /// The driver did not send the planned load.
    #[error("{0}")]
    OtherLoad(String),
    /// The load took several connections: requests cannot be counted in lock step over one.
    #[error(
        "not counted: {driver} opened {connections} connections, 1 was asked for: it retries, or the server closes connections"
    )]
    Connections {
        /// The driver.
        driver: String,
        /// Connections opened.
        connections: u32,
        /// Of a run without a tool, the facts about the server: its runtime may count all the same.
        plain: Option<Box<PlainFacts>>,
    },
    /// The server did not end after SIGTERM.
    #[error(
        "the server was still running {END_TIMEOUT:?} after SIGTERM, so that {tool} wrote no counts; let it end on SIGTERM"
    )]
    NoEnd {
        /// The tool.
        tool: &'static str,
    },
}

impl ServerRunError {
    /// A file or folder of a run cannot be written.
    pub fn unwritable(file: &Path, source: std::io::Error) -> Self {
        Self::Slot(SlotError::Write {
            file: file.to_path_buf(),
            source,
        })
    }

    /// Whether the user interrupted it.
    #[must_use]
    pub fn is_interrupt(&self) -> bool {
        matches!(self, Self::Slot(error) if error.is_interrupt())
    }
}

impl ServerRun<'_> {
    /// Makes the run. The tool writes its files to `folder`.
    ///
    /// # Errors
    /// When server, driver or relay fail, the load was another one, or the user interrupts. Nothing keeps running.
    pub fn make(
        &self,
        bench: &Harness,
        toolbox: &Toolbox,
        jq: &Jq,
        folder: &Path,
    ) -> Result<ServerRunResult, ServerRunError> {
        fs::create_dir_all(folder).map_err(|source| ServerRunError::unwritable(folder, source))?;
        let mut server = self.side.server_of(self.series);
        let slowdown = busy::slowdown(bench.cores.available);
        let front = &mut server.front;
        front.ready_timeout = Span((front.ready_timeout.0 * self.tool.ready_factor()).mul_f64(slowdown));
        use_one_thread(&mut front.env);
        if let Some(runtime) = self.runtime {
            let made = work::prepare(runtime, bench.root).map_err(ServerRunError::Prepare)?;
            let before = |name: &str| {
                let declared = front.env.get(name).or_else(|| self.side.environment.get(name));
                declared.cloned().or_else(|| wirebench_spawn::variable(name))
            };
            let root = self.side.repository.as_deref().unwrap_or(bench.root);
            let env = work::environment(runtime, &made, folder, root, before);
            let env = env.map_err(|source| ServerRunError::unwritable(folder, source))?;
            front.env.extend(env);
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
            folder,
            cores: &alone,
            tls: &bench.tls,
            interrupt: &bench.interrupt,
            kept: None,
            data_folder: None,
            host: None,
            listen_ip: None,
        };
        let mut target = Target::launch(&side, &server, &context).map_err(SlotError::from)?;
        let group = target.front.group.local_id().ok_or(ServerRunError::Elsewhere)?;
        let is_ready = ready::check(&server, &target, group);
        target
            .wait_until_ready(&server, &bench.interrupt, is_ready)
            .map_err(SlotError::from)?;
        target.send_seeds(&server).map_err(SlotError::from)?;
        let request = bench.request(self.series, &target).map_err(SlotError::from)?;
        // Under a tool no probe is sent: its timing would not be in lock step.
        let plain = match self.tool {
            Tool::Plain => Some(plain_facts(&request, &target.front.address, group)?),
            _ => None,
        };
        await_new_second();
        let began = Instant::now();
        let wire = self.drive(bench, &request, (&mut target, group), folder)?;
        let took = began.elapsed();
        self.check_load(&wire, plain.as_ref(), jq, folder)?;
        if self.tool == Tool::Plain {
            request.check(&target.front.address).map_err(SlotError::from)?;
        }
        let ended = target
            .end(END_TIMEOUT.mul_f64(slowdown), self.ending())
            .map_err(|source| ServerRunError::unwritable(folder, source))?;
        if !ended && self.tool != Tool::Plain {
            return Err(ServerRunError::NoEnd { tool: self.tool.name() });
        }
        Ok(ServerRunResult { wire, took, plain })
    }

    /// The side with its server's command at the start layout and under the tool.
    fn wrapped(&self, toolbox: &Toolbox, folder: &Path) -> Result<Side, ServerRunError> {
        let mut side = self.side.clone();
        let name = &self.series.server.name;
        let home = side.stage.clone();
        if let Some(command) = side.programs.get_mut(name) {
            let program = at_layout(&command[0], home.as_deref(), self.layout);
            command[0] = program.map_err(|source| ServerRunError::unwritable(Path::new(&command[0]), source))?;
            *command = toolbox.wrap(self.tool, command, folder, self.detail());
        }
        Ok(side)
    }

    fn ending(&self) -> Ending {
        match self.tool {
            Tool::Strace => Ending::Traced,
            Tool::Callgrind if self.runtime.is_some() => Ending::Aborted,
            _ => Ending::Asked,
        }
    }

    /// What the tool keeps.
    fn detail(&self) -> Detail {
        match (self.stacks, self.runtime) {
            (true, _) => Detail::Stacks,
            (false, Some(_)) => Detail::Functions,
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
        let relay = Relay::start(&target.front.address, group).map_err(ServerRunError::Relay)?;
        let text = |path: PathBuf| path.to_string_lossy().into_owned();
        files::write(request, folder).map_err(|source| ServerRunError::unwritable(folder, source))?;
        let places = Locations {
            address: &relay.address,
            raw: &text(folder.join(files::RAW)),
            body_file: &text(folder.join(files::BODY)),
            protoset: &text(folder.join(files::PROTOSET)),
            driver_folder: &text(self.series.driver.folder.clone()),
            project: &text(bench.root.to_path_buf()),
            ca: &text(target.ca.clone()),
        };
        let mut values = values::of(self.series, &places);
        values::set_amount(&mut values, &Amount::Requests(self.requests));
        values::fill_request(&mut values, self.series, &target.captured);
        // A gRPC request contains its deadline, in microseconds left, so that each request would be different.
        values.insert("request_timeout", Value::One("0s".into()));
        let argv = bench.driver_argv(self.series, &values).map_err(SlotError::from)?;
        let drive = Drive {
            launch: Launch {
                argv: &argv,
                folder,
                env: &values::environment(self.series, &values),
                stdout: folder.join(files::STDOUT),
                stderr: folder.join(files::STDERR),
                cores: &[],
            },
            name: &self.series.driver.name,
            raw: folder.join(files::RAW),
            timeout: self.timeout().mul_f64(busy::slowdown(bench.cores.available)),
            driver_cores: 1,
            server_cores: 1,
            group: Some(&relay.driver),
            host: None,
        };
        drive
            .run(Some(target), None, &bench.interrupt)
            .map_err(SlotError::from)?;
        relay.finish().map_err(ServerRunError::Relay)
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
        let (good, errors) = normalise::good_and_bad(self.series, shape.answers, shape.errors);
        if let Some((what, count)) = errors.iter().next() {
            let message = format!("{driver}: {count} of {} requests failed: {what}", self.requests);
            return Err(ServerRunError::OtherLoad(message));
        }
        if good.len() as u64 != self.requests {
            let message = format!(
                "{driver} sent {} requests, {} were asked for",
                good.len(),
                self.requests
            );
            return Err(ServerRunError::OtherLoad(message));
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

/// Environment variables that make runtimes without `{threads}` use one thread; other programs ignore them.
fn use_one_thread(env: &mut BTreeMap<String, String>) {
    env.entry("GOMAXPROCS".into()).or_insert_with(|| "1".into());
}

/// Waits for the wall clock to begin a second, so that most loads lie within one. Servers do some things once a second:
/// a new Date header alone makes every later HTTP/2 response more expensive, by one more entry in the header table.
fn await_new_second() {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    std::thread::sleep(Duration::from_secs(1) - Duration::from_nanos(now.subsec_nanos().into()));
}

/// Checks a response, and examines the server's program.
fn plain_facts(request: &Request, address: &str, group: i32) -> Result<PlainFacts, ServerRunError> {
    let response = request.check(address).map_err(SlotError::from)?;
    Ok(PlainFacts {
        payload_bytes: request.payload_bytes(&response),
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
