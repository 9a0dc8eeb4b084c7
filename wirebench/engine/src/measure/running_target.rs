//! A target that runs for several loads in a row, to observe how a server warms up.

use std::path::PathBuf;

use crate::measure::error::{MeasureError, written};
use crate::measure::load_monitor::LoadMonitor;
use crate::measure::request::Request;
use crate::measure::side::Side;
use crate::measure::slot::{Harness, Measured, files};
use crate::measure::target::Target;
use wirebench_declare::plan::PlannedSeries;

/// A running server whose probe succeeded.
#[derive(Debug)]
pub struct RunningTarget<'a> {
    harness: &'a Harness<'a>,
    request: Request<'a>,
    target: Target,
    folder: PathBuf,
}

impl<'a> RunningTarget<'a> {
    /// Starts the server of a series; the side must declare it and have built it. Its output goes to `folder`.
    ///
    /// # Errors
    /// When it does not start, or its response is wrong.
    ///
    /// # Panics
    /// When the side does not declare the server, or has not built it.
    pub fn start(
        harness: &'a Harness<'a>,
        series: &PlannedSeries<'a>,
        side: &Side,
        folder: PathBuf,
    ) -> Result<Self, MeasureError> {
        let target = harness.start(side, &side.server_of(series), &folder)?;
        let request = harness.request(series, &target)?;
        request.check(&target.front.address)?;
        written(&folder, files::write(&request, &folder))?;
        Ok(Self {
            harness,
            request,
            target,
            folder,
        })
    }

    /// One load, without a warm-up, and a probe after it.
    ///
    /// # Errors
    /// When a process of the server or the driver fails, or the user interrupts.
    pub fn load(&mut self, series: &PlannedSeries) -> Result<Measured, MeasureError> {
        let values = self.harness.values(series, &self.target, &self.folder);
        let monitor = LoadMonitor::of(&self.target);
        let driven = self
            .harness
            .drive(series, &self.folder, &values, Some(&mut self.target), Some(monitor))?;
        let wrong = self.request.check(&self.target.front.address).err();
        Ok(Measured {
            loading: driven.wall,
            peak_rss_bytes: self.target.usage.peak_rss_bytes(),
            driven,
            wrong_afterwards: wrong.map(|error| error.to_string()),
            ..Measured::default()
        })
    }

    /// Stops it.
    ///
    /// # Errors
    /// When a process cannot be waited for.
    pub fn stop(self) -> Result<(), MeasureError> {
        written(&self.folder, self.target.stop())
    }
}
