//! One slot of the plan: a fresh target, a probe, a warm-up, the load, and a probe again.
//!
//! Series without a load on one server: process starts, where the driver starts the server repeatedly, and benchmarks.

pub mod files;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{fs, io};

use crate::measure::cores::Cores;
use crate::measure::drive::{Drive, Measured, cannot_start};
use crate::measure::error::{MeasureError, written};
use crate::measure::interrupt::Interrupt;
use crate::measure::load_monitor::LoadMonitor;
use crate::measure::process::Launch;
use crate::measure::remote::{Host, ping};
use crate::measure::request::Request;
use crate::measure::side::Side;
use crate::measure::startup::{PORT, StartUp};
use crate::measure::target::{KeptTiers, LaunchContext, Target, argv, environment, part_values};
use crate::measure::tls::TlsFiles;
use crate::measure::values::{self, Locations};
use crate::measure::wire::Endpoint;
use wirebench_declare::args::{Value, Values, expand};
use wirebench_declare::load::total;
use wirebench_declare::plan::PlannedSeries;
use wirebench_declare::plan::warm_up::warm_up_parts;
use wirebench_declare::runtime::Runtime;
use wirebench_declare::scenario::{Amount, Load};
use wirebench_declare::server::{Operation, Server};
use wirebench_declare::span::{Span, nanos};

/// How often a warm-up that fails is run again, each time for twice as long: ghz 0.121.0 crashes if the time is over before its
/// connections are open, and on a busy machine a short warm-up can be.
const WARM_UP_RETRIES: u32 = 3;

/// What all slots of a run have in common.
#[derive(Debug)]
pub struct Harness<'a> {
    /// The project's folder, which declares the requests for every side.
    pub root: &'a Path,
    /// The cores of server and driver.
    pub cores: Cores,
    /// Ctrl-C.
    pub interrupt: Interrupt,
    /// The certificate that servers show and clients trust.
    pub tls: TlsFiles,
    /// Runtimes whose programs' functions can be counted.
    pub runtimes: &'a [Runtime],
    /// Each driver's executable by driver name.
    pub drivers: BTreeMap<String, PathBuf>,
    /// Tiers that keep running between rounds.
    pub kept: Arc<KeptTiers>,
    /// The host on which servers run; `None` for this machine. Dropped after the tiers that run there.
    pub host: Option<Host>,
    /// The host on which load generators run; `None` for this machine.
    pub driver_host: Option<Host>,
}

impl Harness<'_> {
    /// Measures one slot: loads a side's server with the series' load, after its warm-up and `warmup_requests` more. All its
    /// files are in `folder`. The side must declare the series and have built its server.
    ///
    /// # Errors
    /// When server or driver fail, or the user interrupts. Nothing keeps running.
    ///
    /// # Panics
    /// When the side does not declare the series' server, or has not built it.
    pub fn measure(
        &self,
        series: &PlannedSeries,
        side: &Side,
        folder: &Path,
        warmup_requests: u64,
    ) -> Result<Measured, MeasureError> {
        written(folder, fs::create_dir_all(folder))?;
        if matches!(series.operation, Operation::Bench(_)) {
            return self.measure_benchmark(series, side, folder);
        }
        let target = self.start(side, &side.server_of(series), folder)?;
        let request = self.request(series, &target)?;
        let response = request.check(&target.front.address)?;
        let ready_ns = nanos(target.ready_after);
        let payload_bytes = request.payload_bytes(&response);
        let mut measured = if matches!(series.load.amount, Amount::Starts(_)) {
            self.measure_starts(series, side, folder, &request, response.body, target)?
        } else {
            let mut target = target;
            let measured = self.measure_load(series, folder, &request, &mut target, warmup_requests)?;
            written(folder, target.stop())?;
            measured
        };
        measured.round.server_ready_ns = Some(ready_ns);
        measured.round.payload_bytes = Some(payload_bytes);
        Ok(measured)
    }

    /// Warm-up, load and a last probe against a target that is ready. It may be loaded several times in a row.
    ///
    /// # Errors
    /// When a process of the server or the driver fails, or the user interrupts.
    pub fn measure_load(
        &self,
        series: &PlannedSeries,
        folder: &Path,
        request: &Request,
        target: &mut Target,
        warmup_requests: u64,
    ) -> Result<Measured, MeasureError> {
        written(folder, files::write(request, folder))?;
        if let Some(host) = &self.driver_host {
            let uploaded = host.upload_inputs(series, self.root, folder, &self.interrupt);
            uploaded.map_err(|error| cannot_start(&series.driver.name, &error))?;
        }
        let values = self.values(series, target, folder);
        let ping = match (&self.host, &self.driver_host) {
            (Some(_), None) => ping::handshakes(&target.front.address),
            (None, Some(host)) => host.ping(),
            // The network between two other hosts cannot be measured from here.
            (Some(_), Some(_)) | (None, None) => None,
        };
        let warmed = self.warm_up(series, folder, &values, target, warmup_requests)?;
        let monitor = LoadMonitor::of(target);
        let remote_steal_before = self.remote_steal_ns();
        let mut measured = self.drive(series, folder, &values, Some(target), Some(monitor))?;
        let round = &mut measured.round;
        if let (Some(before), Some(after)) = (remote_steal_before, self.remote_steal_ns()) {
            round.host_steal_ns = Some(round.host_steal_ns.unwrap_or(0) + after.saturating_sub(before));
        }
        let wrong = request.check(&target.front.address).err();
        round.server_peak_rss_bytes = target.usage.peak_rss_bytes();
        round.ping = ping;
        measured.loading += warmed;
        measured.wrong_afterwards = wrong.map(|error| error.to_string());
        Ok(measured)
    }

    /// Runs the driver for the warm-up of a series, if it has one, and for so many more requests; returns how long it ran.
    fn warm_up(
        &self,
        series: &PlannedSeries,
        folder: &Path,
        values: &Values,
        target: &mut Target,
        requests: u64,
    ) -> Result<Duration, MeasureError> {
        let parts = warm_up_parts(requests, series.load.workers());
        let parts = parts.into_iter().map(Amount::Requests);
        let amounts = series.load.warmup.map(Amount::Duration).into_iter().chain(parts);
        let mut took = Duration::ZERO;
        for mut amount in amounts {
            let mut retries = WARM_UP_RETRIES;
            took += loop {
                let mut series = series.clone();
                series.load.amount = amount.clone();
                let mut values = values.clone();
                values::set_amount(&mut values, &amount);
                match self.drive(&series, folder, &values, Some(&mut *target), None) {
                    Err(MeasureError::Failed(_)) if retries > 0 => retries -= 1,
                    measured => break measured?.wall,
                }
                if let Amount::Duration(Span(length)) = &mut amount {
                    *length *= 2;
                }
            };
        }
        Ok(took)
    }

    /// CPU time that the hypervisors of other hosts gave to others so far, ns; `None` without other hosts.
    fn remote_steal_ns(&self) -> Option<u64> {
        let mut hosts = [&self.host, &self.driver_host].into_iter().flatten().peekable();
        hosts.peek()?;
        hosts.map(Host::steal_ns).sum()
    }

    /// Lets the driver start the server's front repeatedly, while the tiers behind it keep running. `verified_body` is the body of
    /// a right response.
    pub(super) fn measure_starts(
        &self,
        series: &PlannedSeries,
        side: &Side,
        folder: &Path,
        request: &Request,
        verified_body: Vec<u8>,
        target: Target,
    ) -> Result<Measured, MeasureError> {
        let mut values = self.values(series, &target, folder);
        let tiers = written(folder, target.stop_front())?;
        let server = &side.server_of(series);
        let part_values = part_values(&server.front, &self.context(folder), PORT, &tiers.list);
        let (status, body) = match series.operation {
            Operation::Http(http) => (http.status, http.expected_body.as_ref().map(|_| verified_body)),
            Operation::Grpc(_) | Operation::Bench(_) => (200, Some(verified_body)),
        };
        let start_up = StartUp {
            argv: argv(side, &server.front, &part_values),
            folder: side.folder_of(&server.front),
            env: environment(side, &server.front, &part_values),
            port: server.front.port,
            host: server.front.host,
            cores: self.cores.server.clone(),
            request: request.wire.clone(),
            status,
            body,
            timeout_ns: nanos(server.front.ready_timeout.0),
        };
        let spec = folder.join("start.json");
        let json = serde_json::to_vec(&start_up).map_err(io::Error::from);
        written(&spec, json.and_then(|json| fs::write(&spec, json)))?;
        let wirebench = std::env::current_exe().unwrap_or_else(|_| "wirebench".into());
        let command = [&*wirebench.to_string_lossy(), "first-answer", &*spec.to_string_lossy()];
        values.insert("start_command", Value::One(shell_words::join(command)));
        let measured = self.drive(series, folder, &values, None, None)?;
        written(folder, tiers.stop())?;
        Ok(measured)
    }

    /// Runs one benchmark of a program in the side's folder: without requests, and without a server.
    pub(super) fn measure_benchmark(
        &self,
        series: &PlannedSeries,
        side: &Side,
        folder: &Path,
    ) -> Result<Measured, MeasureError> {
        let server = &side.server_of(series);
        let part_values = part_values(&server.front, &self.context(folder), PORT, &[]);
        let variables = environment(side, &server.front, &part_values);
        let variables = variables.iter().map(|(name, value)| format!("{name}={value}"));
        let command = argv(side, &server.front, &part_values);
        let command = std::iter::once("env".to_owned())
            .chain(variables)
            .chain(command)
            .collect();
        let mut values = self.values_at(series, "", &self.tls.certificate(), folder);
        values.insert("bench_command", Value::Many(command));
        let bench_folder = side.folder.to_string_lossy().into_owned();
        values.insert("bench_folder", Value::One(bench_folder));
        self.drive(series, folder, &values, None, None)
    }

    /// The request of a series to a running server, with the values that its seeds captured.
    ///
    /// # Errors
    /// When a gRPC message does not fit its .proto file.
    pub fn request<'s>(&self, series: &PlannedSeries<'s>, target: &Target) -> Result<Request<'s>, MeasureError> {
        let endpoint = Endpoint {
            address: &target.front.address,
            protocol: series.protocol,
            ca: &target.ca,
        };
        Request::new(self.root, series.server, series.operation, endpoint, &target.captured)
    }

    /// Starts one of a side's servers and waits until it is ready. Its output goes to `folder`.
    ///
    /// # Errors
    /// When it cannot be started, ends early, or is not ready in time.
    pub fn start(&self, side: &Side, server: &Server, folder: &Path) -> Result<Target, MeasureError> {
        Target::start(side, server, &self.context(folder))
    }

    /// What processes of servers are started with.
    pub(crate) fn context<'b>(&'b self, folder: &'b Path) -> LaunchContext<'b> {
        LaunchContext {
            folder,
            cores: &self.cores,
            tls: &self.tls,
            interrupt: &self.interrupt,
            kept: Some(&self.kept),
            host: self.host.as_ref(),
            listen_ip: self.driver_host.as_ref().map(Host::local_ip),
        }
    }

    /// The values of the driver's placeholders, for a running server.
    pub(in crate::measure) fn values(&self, series: &PlannedSeries, target: &Target, folder: &Path) -> Values {
        let mut values = self.values_at(series, &target.front.address, &target.ca, folder);
        values::fill_request(&mut values, series, &target.captured);
        values
    }

    /// The values of the driver's placeholders, for a server at an address.
    pub(crate) fn values_at(&self, series: &PlannedSeries, address: &str, ca: &Path, folder: &Path) -> Values {
        let path = |name: &str, local: PathBuf| match &self.driver_host {
            Some(host) => host.load_file(name),
            None => local.to_string_lossy().into_owned(),
        };
        let protoset = folder.join(files::PROTOSET);
        let protoset = protoset.exists().then(|| path(files::PROTOSET, protoset));
        let locations = Locations {
            address,
            raw: &path(files::RAW, folder.join(files::RAW)),
            body_file: &path(files::BODY, folder.join(files::BODY)),
            protoset: protoset.as_deref(),
            driver_folder: &path(files::DRIVER, series.driver.folder.clone()),
            project: &path(files::PROJECT, self.root.to_path_buf()),
            ca: &ca.to_string_lossy(),
        };
        values::of(series, &locations)
    }

    /// Runs the driver once; its output is in `folder` afterwards.
    pub(in crate::measure) fn drive(
        &self,
        series: &PlannedSeries,
        folder: &Path,
        values: &Values,
        target: Option<&mut Target>,
        monitor: Option<LoadMonitor>,
    ) -> Result<Measured, MeasureError> {
        let raw = folder.join(files::RAW);
        if raw.exists() {
            written(&raw, fs::remove_file(&raw))?;
        }
        self.driver_run(series, folder, values)?
            .run(target, monitor, &self.interrupt)
    }

    /// A run of the driver that writes its output to `folder`.
    pub(crate) fn driver_run<'d>(
        &'d self,
        series: &PlannedSeries<'d>,
        folder: &'d Path,
        values: &Values,
    ) -> Result<Drive<'d>, MeasureError> {
        let (server_host, driver_host) = (self.host.as_ref(), self.driver_host.as_ref());
        let program = self.drivers[&series.driver.name].to_string_lossy().into_owned();
        let args = expand(&series.mode.args, values).map_err(|why| format!("driver: {why}"))?;
        let cores = |own: &[usize], host: Option<&Host>| host.map_or_else(|| self.cores.threads(own), Host::cpus);
        let cores_at_most = series.mode.cores_at_most.map_or(usize::MAX, usize::from);
        Ok(Drive {
            launch: Launch {
                argv: std::iter::once(program).chain(args).collect(),
                folder,
                env: values::environment(series, values),
                stdout: folder.join(files::STDOUT),
                stderr: folder.join(files::STDERR),
                cores: &self.cores.driver,
            },
            name: &series.driver.name,
            raw: folder.join(files::RAW),
            timeout: timeout(&series.load),
            driver_cores: cores_at_most.min(cores(&self.cores.driver, driver_host)),
            server_cores: cores(&self.cores.server, server_host),
            group: None,
            host: driver_host,
        })
    }
}

/// The time limit of a driver run: `load.timeout`, or a multiple of the load's length. A load by number of requests
/// gets 1 ms for each request, far more than any server here needs.
pub fn timeout(load: &Load) -> Duration {
    const SPARE: Duration = Duration::from_secs(30);
    let derived = match &load.amount {
        Amount::Requests(requests) | Amount::Counted { many: requests, .. } => Duration::from_millis(*requests) + SPARE,
        Amount::Duration(Span(length)) => *length * 2 + SPARE,
        Amount::Stages(stages) => total(stages) * 2 + SPARE,
        Amount::Starts(starts) => Duration::from_secs(u64::from(*starts) + 1) + SPARE,
        Amount::Samples(_) => SPARE,
    };
    load.timeout.map_or(derived, |span| span.0)
}
