//! What all slots of a run have in common, and the steps that they consist of.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::measure::cores::Cores;
use crate::measure::drive::{Drive, DriverStats};
use crate::measure::endpoint::Endpoint;
use crate::measure::error::{MeasureError, written};
use crate::measure::interrupt::Interrupt;
use crate::measure::load_monitor::LoadMonitor;
use crate::measure::process::Launch;
use crate::measure::remote::Host;
use crate::measure::request::Request;
use crate::measure::side::Side;
use crate::measure::slot::files;
use crate::measure::target::{KeptTiers, LaunchContext, Target};
use crate::measure::tls::TlsFiles;
use crate::measure::values::{self, Locations};
use wirebench_declare::args::{MissingValue, Values, expand};
use wirebench_declare::load::total;
use wirebench_declare::plan::PlannedSeries;
use wirebench_declare::runtime::Runtime;
use wirebench_declare::scenario::{Amount, Load};
use wirebench_declare::server::Server;
use wirebench_declare::span::Span;

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
            data_folder: None,
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
        let locations = Locations {
            address,
            raw: &path(files::RAW, folder.join(files::RAW)),
            body_file: &path(files::BODY, folder.join(files::BODY)),
            protoset: &path(files::PROTOSET, folder.join(files::PROTOSET)),
            driver_folder: &path(files::DRIVER, series.driver.folder.clone()),
            project: &path(files::PROJECT, self.root.to_path_buf()),
            ca: &ca.to_string_lossy(),
        };
        let mut values = values::of(series, &locations);
        values::set_amount(&mut values, &series.load.amount);
        values
    }

    /// Runs the driver once; its output is in `folder` afterwards.
    pub(in crate::measure) fn drive(
        &self,
        series: &PlannedSeries,
        folder: &Path,
        values: &Values,
        target: Option<&mut Target>,
        monitor: Option<LoadMonitor>,
    ) -> Result<DriverStats, MeasureError> {
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
        let driver_cores = driver_host.map_or_else(|| self.cores.driver_threads(), Host::cpus);
        let cores_at_most = series.mode.cores_at_most.map_or(usize::MAX, usize::from);
        Ok(Drive {
            launch: Launch {
                argv: self.driver_argv(series, values)?,
                folder,
                env: values::environment(series, values),
                stdout: folder.join(files::STDOUT),
                stderr: folder.join(files::STDERR),
                cores: &self.cores.driver,
            },
            name: &series.driver.name,
            raw: folder.join(files::RAW),
            timeout: timeout(&series.load),
            driver_cores: cores_at_most.min(driver_cores),
            server_cores: server_host.map_or_else(|| self.cores.server_threads(), Host::cpus),
            group: None,
            host: driver_host,
        })
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
}

/// The time limit of a driver run: `load.timeout`, or a multiple of the load's length. A load by number of requests
/// gets 1 ms for each request, far more than any server here needs.
#[must_use]
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
