//! One slot of the plan: a fresh target, a probe, a warm-up, the load, and a probe again.

pub mod files;
mod harness;
mod measured;
mod starts;

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::measure::drive::cannot_start;
use crate::measure::error::{MeasureError, written};
use crate::measure::load_monitor::LoadMonitor;
use crate::measure::remote::{Host, ping};
use crate::measure::request::Request;
use crate::measure::side::Side;
use crate::measure::target::Target;
use crate::measure::values;
use wirebench_declare::args::Values;
use wirebench_declare::plan::PlannedSeries;
use wirebench_declare::scenario::Amount;
use wirebench_declare::server::Operation;

pub use harness::{Harness, timeout};
pub use measured::Measured;

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
        let ready_after = Some(target.ready_after);
        let payload_bytes = Some(request.payload_bytes(&response));
        let measured = if matches!(series.load.amount, Amount::Starts(_)) {
            self.measure_starts(series, side, folder, &request, response.body, target)?
        } else {
            let mut target = target;
            let measured = self.measure_load(series, folder, &request, &mut target, warmup_requests)?;
            written(folder, target.stop())?;
            measured
        };
        Ok(Measured {
            ready_after,
            payload_bytes,
            ..measured
        })
    }

    /// Warm-up, load and a last probe against a target that is ready.
    fn measure_load(
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
        let mut driven = self.drive(series, folder, &values, Some(target), Some(monitor))?;
        if let (Some(before), Some(after)) = (remote_steal_before, self.remote_steal_ns()) {
            driven.steal_ns = Some(driven.steal_ns.unwrap_or(0) + after.saturating_sub(before));
        }
        let wrong = request.check(&target.front.address).err();
        let peak_rss_bytes = target.usage.peak_rss_bytes();
        Ok(Measured {
            loading: warmed + driven.wall,
            driven,
            peak_rss_bytes,
            wrong_afterwards: wrong.map(|error| error.to_string()),
            ping,
            ..Measured::default()
        })
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
        let requests = (requests > 0).then_some(Amount::Requests(requests));
        let amounts = series.load.warmup.map(Amount::Duration).into_iter().chain(requests);
        let mut took = Duration::ZERO;
        for amount in amounts {
            let mut series = series.clone();
            series.load.amount = amount;
            let mut values = values.clone();
            values::set_amount(&mut values, &series.load.amount);
            took += self.drive(&series, folder, &values, Some(&mut *target), None)?.wall;
        }
        Ok(took)
    }

    /// CPU time that the hypervisors of other hosts gave to others so far, ns; `None` without other hosts.
    fn remote_steal_ns(&self) -> Option<u64> {
        let mut hosts = [&self.host, &self.driver_host].into_iter().flatten().peekable();
        hosts.peek()?;
        hosts.map(Host::steal_ns).sum()
    }
}
