//! A target that is kept for several loads in a row, for `wirebench soak`.

use std::path::PathBuf;

use crate::measure::processes::Processes;
use crate::measure::question::Question;
use crate::measure::side::Side;
use crate::measure::slot::{Bench, Measured, SlotError, files, write};
use crate::measure::target::Target;
use wirebench_declare::plan::PlannedSeries;

/// A running server whose probe was right.
#[derive(Debug)]
pub struct Held<'a> {
    bench: &'a Bench<'a>,
    question: Question<'a>,
    target: Target,
    folder: PathBuf,
}

impl<'a> Held<'a> {
    /// Starts the server of a series; the side must declare it and have built it. Its output goes to `folder`.
    ///
    /// # Errors
    /// When it does not start, or answers wrongly.
    ///
    /// # Panics
    /// When the side does not declare the server, or has not built it.
    pub fn start(
        bench: &'a Bench<'a>,
        series: &PlannedSeries<'a>,
        side: &Side,
        folder: PathBuf,
    ) -> Result<Self, SlotError> {
        let target = bench.start(side, &side.server_of(series), &folder)?;
        let question = bench.question(series, &target)?;
        question.check(&target.front.address)?;
        write(&folder, files::write(&question, &folder))?;
        Ok(Self {
            bench,
            question,
            target,
            folder,
        })
    }

    /// One load, without a warm-up, and a probe after it.
    ///
    /// # Errors
    /// When a process of the server or the driver fails, or the user interrupts.
    pub fn load(&mut self, series: &PlannedSeries) -> Result<Measured, SlotError> {
        let values = self.bench.values(series, &self.target, &self.folder);
        let processes = Processes::of(&self.target);
        let driven = self
            .bench
            .drive(series, &self.folder, &values, Some(&mut self.target), Some(processes))?;
        let wrong = self.question.check(&self.target.front.address).err();
        Ok(Measured {
            loading: driven.wall,
            peak_rss_bytes: self.target.watched.peak_rss_bytes(),
            driven,
            wrong_afterwards: wrong.map(|error| error.to_string()),
            ..Measured::default()
        })
    }

    /// Current resident memory of each process by name, the front first; bytes, `None` if it cannot be read.
    #[must_use]
    pub fn rss(&self) -> Vec<(String, Option<u64>)> {
        let instances = self.target.instances();
        instances
            .map(|one| (one.name.clone(), one.watched.rss_bytes()))
            .collect()
    }

    /// Stops it.
    ///
    /// # Errors
    /// When a process cannot be waited for.
    pub fn stop(self) -> Result<(), SlotError> {
        write(&self.folder, self.target.stop())
    }
}
