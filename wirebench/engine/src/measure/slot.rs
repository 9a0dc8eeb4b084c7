//! One slot of the plan: a fresh target, a probe, a warm-up, the load, a probe again.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::measure::cores::Cores;
use crate::measure::drive::{Drive, DriveError, Driven};
use crate::measure::instance::Instance;
use crate::measure::interrupt::Interrupt;
use crate::measure::kept::Kept;
use crate::measure::process::Launch;
use crate::measure::processes::Processes;
use crate::measure::question::Question;
use crate::measure::reflection::Place;
use crate::measure::remote::{Host, ping};
use crate::measure::side::Side;
use crate::measure::startup::{PORT, StartUp};
use crate::measure::target::{Ground, Target, TargetError, argv, environment, stop_all};
use crate::measure::tls::Pair;
use crate::measure::values::{self, Places};
use wirebench_declare::args::{MissingValue, Value, Values, expand};
use wirebench_declare::load::total;
use wirebench_declare::plan::PlannedSeries;
use wirebench_declare::scenario::{Amount, Load};
use wirebench_declare::server::{Operation, Server};
use wirebench_declare::span::{Span, nanos};
use wirebench_record::run::Ping;

/// Why a slot gave no result.
#[derive(Debug, thiserror::Error)]
pub enum SlotError {
    /// The server is at fault.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The driver is at fault, or the server under it.
    #[error(transparent)]
    Drive(#[from] DriveError),
    /// The driver's declaration does not fit the load.
    #[error("driver: {0}")]
    Arguments(#[from] MissingValue),
    /// The results folder cannot be written.
    #[error("{}: cannot be written: {source}; free some space or choose another folder with --out", file.display())]
    Write {
        /// The file or folder.
        file: PathBuf,
        /// The operating system's reason.
        source: std::io::Error,
    },
}

impl SlotError {
    /// Whether the user asked for the stop.
    #[must_use]
    pub fn is_interrupt(&self) -> bool {
        matches!(
            self,
            Self::Target(TargetError::Interrupted) | Self::Drive(DriveError::Interrupted)
        )
    }
}

/// What every slot of a run shares.
#[derive(Debug)]
pub struct Bench<'a> {
    /// The project's folder: the requests come from there for every side.
    pub root: &'a Path,
    /// The cores of server and driver.
    pub cores: Cores,
    /// Ctrl-C.
    pub interrupt: Interrupt,
    /// The certificate that servers show and clients trust.
    pub tls: Pair,
    /// Each driver's executable by driver name.
    pub drivers: BTreeMap<String, PathBuf>,
    /// Tiers that stay up between rounds.
    pub kept: Arc<Kept>,
    /// The host on which servers run; `None` for this machine. Dropped after the tiers that run there.
    pub host: Option<Host>,
    /// The host on which load generators run; `None` for this machine.
    pub driver_host: Option<Host>,
}

/// The measured values of a slot.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Measured {
    /// The measured load.
    pub driven: Driven,
    /// From exec to ready.
    pub ready_after: Option<Duration>,
    /// The server's largest resident memory, bytes.
    pub peak_rss_bytes: Option<u64>,
    /// Body or message bytes of one right answer.
    pub payload_bytes: Option<u64>,
    /// Wall time with a driver running, warm-up included.
    pub loading: Duration,
    /// What the probe after the load found wrong.
    pub wrong_afterwards: Option<String>,
    /// How long the way between the driver's and the server's host and back took before the load; `None` on one machine.
    pub ping: Option<Ping>,
}

/// Files of one slot's folder.
pub mod files {
    use std::path::{Path, PathBuf};
    use std::{fs, io};

    use crate::measure::question::Question;

    /// What the driver printed.
    pub const STDOUT: &str = "stdout";
    /// The driver's stderr.
    pub const STDERR: &str = "stderr";
    /// The file that the driver wrote to {raw}.
    pub const RAW: &str = "raw";
    /// The body of the request.
    pub const BODY: &str = "body";
    /// A gRPC method's descriptors, where the server was asked for them.
    pub const PROTOSET: &str = "protoset";
    /// On another host: the driver's own folder.
    pub const DRIVER: &str = "driver";
    /// On another host: the project's folder, with its .proto files alone.
    pub const PROJECT: &str = "project";

    /// The files below a folder whose names have this ending, each with its path below `under`.
    ///
    /// # Errors
    /// When a folder cannot be read.
    pub fn below(folder: &Path, ending: &str, under: &str) -> io::Result<Vec<(PathBuf, String)>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let name = format!("{under}/{}", path.file_name().unwrap_or_default().to_string_lossy());
            if path.is_dir() {
                found.extend(below(&path, ending, &name)?);
            } else if name.ends_with(ending) {
                found.push((path, name));
            }
        }
        Ok(found)
    }

    /// Writes the files that drivers read.
    ///
    /// # Errors
    /// When one cannot be written.
    pub fn write(question: &Question, folder: &Path) -> io::Result<()> {
        fs::write(folder.join(BODY), &question.request.body)?;
        match question.protoset() {
            Some(protoset) => fs::write(folder.join(PROTOSET), protoset),
            None => Ok(()),
        }
    }
}

impl Bench<'_> {
    /// Measures one slot: loads a side's server with the series' load. All its files are in `folder`. The side must
    /// declare the series and have built its server.
    ///
    /// # Errors
    /// When server or driver fail, or the user interrupts. Nothing keeps running.
    ///
    /// # Panics
    /// When the side does not declare the series' server, or has not built it.
    pub fn measure(&self, series: &PlannedSeries, side: &Side, folder: &Path) -> Result<Measured, SlotError> {
        write(folder, fs::create_dir_all(folder))?;
        if matches!(series.operation, Operation::Bench(_)) {
            return self.measure_benchmark(series, side, folder);
        }
        let server = &side.server_of(series);
        let target = self.start(side, server, folder)?;
        let question = self.question(series, &target)?;
        let answer = question.check(&target.front.address)?;
        let ready_after = Some(target.ready_after);
        let payload_bytes = Some(question.payload_bytes(&answer));
        let values = self.values(series, &target, folder);
        let measured = if matches!(series.load.amount, Amount::Starts(_)) {
            // Of a chain only the front is started repeatedly: the tiers behind it run already.
            let tiers = write(folder, target.stop_front())?;
            let start_up = self.start_up(series, side, folder, &tiers, &question, answer.body);
            let measured = self.measure_starts(series, folder, values, &start_up)?;
            write(folder, stop_all(tiers))?;
            measured
        } else {
            self.measure_load(series, folder, &values, &question, target)?
        };
        Ok(Measured {
            ready_after,
            payload_bytes,
            ..measured
        })
    }

    /// The request of a series to a running server, with the values that its seeds captured.
    ///
    /// # Errors
    /// When a gRPC message does not fit its .proto file.
    pub fn question<'q>(&self, series: &PlannedSeries<'q>, target: &Target) -> Result<Question<'q>, TargetError> {
        let place = Place {
            address: &target.front.address,
            protocol: series.protocol,
            ca: &target.ca,
        };
        Question::new(self.root, series.server, series.operation, place, &target.captured)
    }

    /// Starts one of a side's servers and waits until it is ready. Its output goes to `folder`.
    ///
    /// # Errors
    /// When it cannot be started, ends early, or is not ready in time.
    pub fn start(&self, side: &Side, server: &Server, folder: &Path) -> Result<Target, TargetError> {
        Target::start(side, server, &self.ground(folder))
    }

    fn ground<'b>(&'b self, folder: &'b Path) -> Ground<'b> {
        Ground {
            folder,
            cores: &self.cores,
            tls: &self.tls,
            interrupt: &self.interrupt,
            kept: Some(&self.kept),
            data: None,
            host: self.host.as_ref(),
            reached_at: self.driver_host.as_ref().map(Host::ip_here),
        }
    }

    /// The values of the driver's placeholders, for a running server.
    pub(super) fn values(&self, series: &PlannedSeries, target: &Target, folder: &Path) -> Values {
        let mut values = self.values_at(series, &target.front.address, &target.ca, folder);
        values::fill_request(&mut values, series, &target.captured);
        values
    }

    fn values_at(&self, series: &PlannedSeries, address: &str, ca: &Path, folder: &Path) -> Values {
        let place = |name: &str, here: PathBuf| match &self.driver_host {
            Some(host) => host.of_load(name),
            None => here.to_string_lossy().into_owned(),
        };
        let places = Places {
            address,
            raw: &place(files::RAW, folder.join(files::RAW)),
            body_file: &place(files::BODY, folder.join(files::BODY)),
            protoset: &place(files::PROTOSET, folder.join(files::PROTOSET)),
            driver_folder: &place(files::DRIVER, series.driver.folder.clone()),
            project: &place(files::PROJECT, self.root.to_path_buf()),
            ca: &ca.to_string_lossy(),
        };
        let mut values = values::of(series, &places);
        values::set_amount(&mut values, &series.load.amount);
        values
    }

    /// The driver itself starts the server repeatedly.
    fn measure_starts(
        &self,
        series: &PlannedSeries,
        folder: &Path,
        mut values: Values,
        start_up: &StartUp,
    ) -> Result<Measured, SlotError> {
        let spec = folder.join("start.json");
        write(&spec, start_up.write(&spec))?;
        values.insert("start_command", Value::One(start_command(&spec)));
        let driven = self.drive(series, folder, &values, None, None)?;
        Ok(Measured {
            loading: driven.wall,
            driven,
            ..Measured::default()
        })
    }

    /// One benchmark of a program, in the side's folder: no requests, and no server.
    fn measure_benchmark(&self, series: &PlannedSeries, side: &Side, folder: &Path) -> Result<Measured, SlotError> {
        let server = &side.server_of(series);
        let ground = self.ground(folder);
        let set = environment(side, &server.front(), &ground, PORT, &[]);
        let set = set.iter().map(|(name, value)| format!("{name}={value}"));
        let command = argv(side, &server.front(), &ground, PORT, &[]);
        let command = std::iter::once("env".to_owned()).chain(set).chain(command).collect();
        let mut values = self.values_at(series, "", &self.tls.certificate(), folder);
        values.insert("bench_command", Value::Many(command));
        let place = side.folder.to_string_lossy().into_owned();
        values.insert("bench_folder", Value::One(place));
        let driven = self.drive(series, folder, &values, None, None)?;
        Ok(Measured {
            loading: driven.wall,
            driven,
            ..Measured::default()
        })
    }

    /// Warm-up, load and a last probe against a target that is ready.
    fn measure_load(
        &self,
        series: &PlannedSeries,
        folder: &Path,
        values: &Values,
        question: &Question,
        mut target: Target,
    ) -> Result<Measured, SlotError> {
        write(folder, files::write(question, folder))?;
        if let Some(host) = &self.driver_host {
            let supplied = host.supply(series, self.root, folder, &self.interrupt);
            supplied.map_err(|source| DriveError::Start {
                driver: series.driver.name.clone(),
                source,
            })?;
        }
        let ping = match (&self.host, &self.driver_host) {
            (Some(_), None) => ping::handshakes(&target.front.address),
            (None, Some(host)) => host.ping(),
            // The way between two other hosts cannot be measured from here.
            (Some(_), Some(_)) | (None, None) => None,
        };
        let mut warmed = Duration::ZERO;
        if let Some(warmup) = series.load.warmup {
            let mut warm = values.clone();
            values::set_amount(&mut warm, &Amount::Duration(warmup));
            warmed = self.drive(series, folder, &warm, Some(&mut target), None)?.wall;
        }
        let processes = Processes::of(&target);
        let stolen = || {
            let mut others = [&self.host, &self.driver_host].into_iter().flatten().peekable();
            others.peek()?;
            others.map(Host::steal_ns).sum::<Option<u64>>()
        };
        let stolen_before = stolen();
        let mut driven = self.drive(series, folder, values, Some(&mut target), Some(processes))?;
        if let (Some(before), Some(after)) = (stolen_before, stolen()) {
            driven.steal_ns = Some(driven.steal_ns.unwrap_or(0) + after.saturating_sub(before));
        }
        let wrong = question.check(&target.front.address).err();
        let peak_rss_bytes = target.watched.peak_rss_bytes();
        write(folder, target.stop())?;
        Ok(Measured {
            loading: warmed + driven.wall,
            driven,
            peak_rss_bytes,
            wrong_afterwards: wrong.map(|error| error.to_string()),
            ping,
            ..Measured::default()
        })
    }

    /// One driver run; what it prints is in `folder` afterwards.
    pub(super) fn drive(
        &self,
        series: &PlannedSeries,
        folder: &Path,
        values: &Values,
        target: Option<&mut Target>,
        processes: Option<Processes>,
    ) -> Result<Driven, SlotError> {
        let raw = folder.join(files::RAW);
        if raw.exists() {
            write(&raw, fs::remove_file(&raw))?;
        }
        let argv = self.driver_argv(series, values)?;
        let drive = Drive {
            launch: Launch {
                argv: &argv,
                folder,
                env: &values::environment(series, values),
                stdout: folder.join(files::STDOUT),
                stderr: folder.join(files::STDERR),
                cores: &self.cores.driver,
            },
            name: &series.driver.name,
            raw,
            timeout: timeout(&series.load),
            driver_cores: series.mode.cores_at_most.map_or(usize::MAX, usize::from).min(
                self.driver_host
                    .as_ref()
                    .map_or_else(|| self.cores.driver_threads(), Host::cpus),
            ),
            server_cores: self
                .host
                .as_ref()
                .map_or_else(|| self.cores.server_threads(), Host::cpus),
            group: None,
            host: self.driver_host.as_ref(),
        };
        Ok(drive.run(target, processes, &self.interrupt)?)
    }

    /// The driver's command for a series, program first.
    ///
    /// # Errors
    /// When an argument that is not optional has no value.
    ///
    /// # Panics
    /// When the driver's program was not found before.
    pub fn driver_argv(&self, series: &PlannedSeries, values: &Values) -> Result<Vec<String>, MissingValue> {
        let program = self.drivers[&series.driver.name].to_string_lossy().into_owned();
        let args = expand(&series.mode.args, values)?;
        Ok(std::iter::once(program).chain(args).collect())
    }

    fn start_up(
        &self,
        series: &PlannedSeries,
        side: &Side,
        folder: &Path,
        tiers: &[Instance],
        question: &Question,
        verified_body: Vec<u8>,
    ) -> StartUp {
        let server = &side.server_of(series);
        let ground = self.ground(folder);
        let command = argv(side, &server.front(), &ground, PORT, tiers);
        let (status, body) = match series.operation {
            Operation::Http(http) => (http.status, http.expected_body.as_ref().map(|_| verified_body)),
            Operation::Grpc(_) | Operation::Bench(_) => (200, Some(verified_body)),
        };
        StartUp {
            argv: command,
            folder: side.folder.clone(),
            env: environment(side, &server.front(), &ground, PORT, tiers),
            port: server.port,
            host: server.host,
            cores: self.cores.server.clone(),
            request: question.request.clone(),
            status,
            body,
            timeout_ns: nanos(server.ready_timeout.0),
        }
    }
}

fn start_command(spec: &Path) -> String {
    let ours = std::env::current_exe().unwrap_or_else(|_| "wirebench".into());
    shell_words::join([&*ours.to_string_lossy(), "first-answer", &*spec.to_string_lossy()])
}

/// The time limit of a driver run: `load.timeout`, or a multiple of the load's length. A load by number of requests
/// gets 1 ms for each request, far more than any server here needs.
#[must_use]
pub fn timeout(load: &Load) -> Duration {
    const ROOM: Duration = Duration::from_secs(30);
    let derived = match &load.amount {
        Amount::Requests(requests) | Amount::Counted { many: requests, .. } => Duration::from_millis(*requests) + ROOM,
        Amount::Duration(Span(length)) => *length * 2 + ROOM,
        Amount::Stages(stages) => total(stages) * 2 + ROOM,
        Amount::Starts(starts) => Duration::from_secs(u64::from(*starts) + 1) + ROOM,
        Amount::Samples(_) => ROOM,
    };
    load.timeout.map_or(derived, |span| span.0)
}

pub(super) fn write<T>(file: &Path, done: std::io::Result<T>) -> Result<T, SlotError> {
    done.map_err(|source| SlotError::Write {
        file: file.to_path_buf(),
        source,
    })
}
