//! The rounds of a run on a cluster, in the order and within the time limits of a run on one machine.

use std::time::Instant;

use tokio::runtime::Runtime;
use wirebench_declare::plan::Slot;
use wirebench_declare::span::nanos;
use wirebench_engine::session::{Ending, Member, StagedRun, given_up};
use wirebench_record::run::{Run, Stage, Variant};

use crate::session::{Created, Session, stop_requested};

/// A session whose servers and load pods are there, and the runtime that its rounds run on.
pub(crate) struct LoadedSession<'l, 'a> {
    pub(crate) session: &'l mut Session<'a>,
    pub(crate) created: &'l Created,
    pub(crate) runtime: &'l Runtime,
}

impl StagedRun for LoadedSession<'_, '_> {
    fn run(&mut self) -> &mut Run {
        &mut self.session.recorder.run
    }

    fn slots(&mut self) -> &mut Vec<Slot> {
        &mut self.session.slots
    }

    fn is_paired(&self) -> bool {
        self.session.is_paired()
    }

    fn begin(&mut self, stage: &Stage) -> Vec<Member> {
        let spec = self.session.spec;
        let variants: Vec<Variant> = spec.sides.iter().map(|side| side.variant).collect();
        let series = spec.series.iter().enumerate();
        series
            .filter(|(_, series)| stage.series.contains(&series.id))
            .map(|(index, _)| (index, variants.clone()))
            .collect()
    }

    fn enter(&mut self, _: &Stage, _: &'static str, _: &[Slot]) -> anyhow::Result<()> {
        Ok(())
    }

    fn pass(&mut self, slots: &[Slot], deadline: Option<Instant>) -> anyhow::Result<Ending> {
        self.runtime.block_on(self.session.pass(slots, deadline, self.created))
    }
}

impl Session<'_> {
    /// Measures the slots of one round. The deadline is checked between pairs only.
    async fn pass(&mut self, slots: &[Slot], deadline: Option<Instant>, created: &Created) -> anyhow::Result<Ending> {
        let mut before = None;
        for slot in slots {
            let is_new_pair = before != Some(slot.series);
            if is_new_pair && deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Ok(Ending::OutOfTime);
            }
            before = Some(slot.series);
            if given_up(&self.recorder.run.series[slot.series].rounds, slot.variant) {
                continue;
            }
            let interrupt = self.interrupt.clone();
            let started = Instant::now();
            let measured = tokio::select! {
                round = self.round(*slot, created) => Some(round),
                () = stop_requested(&interrupt) => None,
            };
            let Some((mut round, loading)) = measured else {
                return Ok(Ending::Interrupted);
            };
            round.took_ns = Some(nanos(started.elapsed()));
            self.report(*slot, &round);
            self.recorder.run.spent.load_ns += nanos(loading);
            self.recorder.run.spent.measure_ns = nanos(self.began.elapsed());
            self.recorder.add(slot.series, round);
            self.recorder.save(true)?;
        }
        Ok(Ending::Whole)
    }
}
