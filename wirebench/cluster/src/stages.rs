//! The rounds of a stage of a run on a cluster, in the order and within the time limits of a run on one machine.

use std::time::Instant;

use wirebench_declare::plan::{Slot, Stretch, pairs};
use wirebench_declare::span::nanos;
use wirebench_engine::session::{StageTime, given_up, tally};
use wirebench_record::run::{Stage, Variant};

use crate::session::{Created, Ending, Session, stop_requested};

/// A series' place in the run, with the variants to measure.
type Member = (usize, Vec<Variant>);

impl Session<'_> {
    /// Measures the rounds of a stage, and up to four extra pairs of each series that has too few whole ones. After `time.end`
    /// no new pair begins. A stage that another one follows ends earlier (see [`StageTime`]).
    ///
    /// # Errors
    /// When the record cannot be written.
    pub(crate) async fn stage(&mut self, stage: &Stage, time: StageTime, created: &Created) -> anyhow::Result<Ending> {
        let variants: Vec<Variant> = self.spec.sides.iter().map(|side| side.variant).collect();
        let series = self.spec.series.iter().enumerate();
        let members: Vec<Member> = series
            .filter(|(_, series)| stage.series.contains(&series.id))
            .map(|(index, _)| (index, variants.clone()))
            .collect();
        if self.is_paired() {
            self.recorder.run.stages.push(stage.clone());
        }
        let first_round = self.next_round;
        let slots = self.plan(&members, stage.rounds, stage.number);
        for round in (first_round..).take(stage.rounds as usize) {
            let ending = self.pass(&slots, round, time.end, created).await?;
            if ending == Ending::OutOfTime {
                self.shorten(stage, round - first_round, "the time given was over");
            }
            if ending != Ending::Whole {
                return Ok(ending);
            }
            let whole = round - first_round + 1;
            if self.is_paired() && whole < stage.rounds && time.is_enough(whole, members.len(), Instant::now()) {
                self.shorten(stage, whole, "ended to leave time for the second stage,");
                return Ok(Ending::Whole);
            }
        }
        while self.is_paired() && !time.is_late(Instant::now()) {
            let extra = self.extra_pairs(&members, stage);
            if extra.is_empty() {
                break;
            }
            let slots = self.plan(&extra, 1, stage.number);
            let ending = self.pass(&slots, self.next_round - 1, time.end, created).await?;
            if ending != Ending::Whole {
                return Ok(ending);
            }
        }
        Ok(Ending::Whole)
    }

    /// Plans rounds of these series, after those that are planned already.
    fn plan(&mut self, members: &[Member], rounds: u32, stage: u32) -> Vec<Slot> {
        let stretch = Stretch {
            series: members,
            rounds,
            first_round: self.next_round,
            first_position: self.slots,
            stage,
        };
        let slots = pairs(&stretch, self.spec.seed);
        self.slots += slots.len();
        self.next_round += rounds;
        slots
    }

    /// Measures the slots of one round. The deadline is checked between pairs only.
    async fn pass(
        &mut self,
        slots: &[Slot],
        round: u32,
        deadline: Option<Instant>,
        created: &Created,
    ) -> anyhow::Result<Ending> {
        let mut before = None;
        for slot in slots.iter().filter(|slot| slot.round == round) {
            let is_new_pair = before != Some(slot.series);
            if is_new_pair && deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Ok(Ending::OutOfTime);
            }
            before = Some(slot.series);
            if given_up(&self.recorder.run.series[slot.series].rounds, slot.variant) {
                continue;
            }
            let interrupt = self.interrupt.clone();
            let measured = tokio::select! {
                round = self.round(*slot, created) => Some(round),
                () = stop_requested(&interrupt) => None,
            };
            let Some((round, loading)) = measured else {
                return Ok(Ending::Interrupted);
            };
            self.report(*slot, &round);
            self.recorder.run.spent.load_ns += nanos(loading);
            self.recorder.run.spent.measure_ns = nanos(self.began.elapsed());
            self.recorder.add(slot.series, round);
            self.recorder.save(true)?;
        }
        Ok(Ending::Whole)
    }

    /// The series that get an extra pair, because too few of theirs are whole.
    fn extra_pairs(&self, members: &[Member], stage: &Stage) -> Vec<Member> {
        let needs_extra = |(series, variants): &&Member| {
            let rounds = &self.recorder.run.series[*series].rounds;
            let tally = tally(rounds, variants, stage.number, stage.rounds);
            tally.wants_another() && variants.iter().all(|variant| !given_up(rounds, *variant))
        };
        members.iter().filter(needs_extra).cloned().collect()
    }

    /// Records that a stage ended early, with the number of rounds that every series has.
    fn shorten(&mut self, stage: &Stage, whole: u32, why: &str) {
        if let Some(recorded) = self.recorder.run.stages.last_mut() {
            recorded.rounds = whole;
            recorded.why = format!("{}; {why} after {whole} of {} rounds", recorded.why, stage.rounds);
        }
    }
}
