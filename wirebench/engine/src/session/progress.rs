//! Prints the progress of a run and the time left on stderr: a bar in a terminal, plain lines elsewhere.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use wirebench_declare::load::total;
use wirebench_declare::plan::rates::MOST_STEPS;
use wirebench_declare::plan::{PlannedSeries, Slot};
use wirebench_declare::scenario::Amount;

/// Requests per second assumed before a series was measured.
const ASSUMED_RATE: f64 = 15_000.0;
/// Estimated time for starting, probing, stopping and normalising one round.
const OVERHEAD: Duration = Duration::from_millis(300);

/// The progress of a run.
#[derive(Debug)]
pub(super) struct Progress<'a> {
    bar: ProgressBar,
    series: &'a [PlannedSeries<'a>],
    /// The stage and its kind, when there is more than one variant: `stage 1/2 screen`.
    stage: Option<String>,
    /// `round`, or another noun for the rounds of this part of the run.
    kind: &'static str,
    /// Their numbers in the run.
    rounds: Range<u32>,
    remaining: Vec<Slot>,
    took: BTreeMap<usize, Duration>,
    /// The end of the budget: no pair begins after it.
    pub(super) deadline: Option<Instant>,
}

/// A bar on stderr; hidden if that is no terminal.
pub(super) fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:24} {pos}/{len}  {wide_msg}").expect("a constant template");
    ProgressBar::new(0).with_style(style)
}

/// A number with its noun: `1 pair`, `2 pairs`.
pub(super) fn number(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

impl<'a> Progress<'a> {
    pub(super) fn new(series: &'a [PlannedSeries<'a>]) -> Self {
        Self {
            bar: bar(),
            series,
            stage: None,
            kind: "",
            rounds: 0..0,
            remaining: Vec::new(),
            took: BTreeMap::new(),
            deadline: None,
        }
    }

    /// Starts a part of the run.
    pub(super) fn enter(&mut self, stage: Option<String>, kind: &'static str, slots: &[Slot]) {
        let first_round = slots.first().map_or(0, |slot| slot.round);
        self.rounds = first_round..slots.last().map_or(first_round, |slot| slot.round + 1);
        (self.stage, self.kind) = (stage, kind);
        self.remaining = slots.to_vec();
        self.bar.set_length(self.bar.position() + slots.len() as u64);
    }

    /// The expected time of the slots that are left, at most what is left of the budget.
    fn left(&self, now: Instant) -> Duration {
        let expected = self.remaining.iter().map(|slot| self.expected(slot.series)).sum();
        let of_budget = self.deadline.map(|deadline| deadline.saturating_duration_since(now));
        of_budget.map_or(expected, |left| left.min(expected))
    }

    /// A slot begins.
    pub(super) fn begin(&self, slot: Slot) {
        let left = remaining(self.left(Instant::now()));
        let number = slot.round - self.rounds.start + 1;
        let round = format!("{} {number}/{}", self.kind, self.rounds.len());
        let id = &self.series[slot.series].id;
        let place = match &self.stage {
            Some(stage) => format!("{stage} · {round} · {} · {id}", slot.variant.name()),
            None => format!("{round} · {id}"),
        };
        if self.bar.is_hidden() {
            log::info!("{place} · about {left} left");
        }
        // The most important part comes first: a narrow terminal cuts off the end.
        self.bar.set_message(format!("about {left} left · {place}"));
    }

    /// A slot has ended after `took`.
    pub(super) fn end(&mut self, slot: Slot, took: Duration) {
        self.took.insert(slot.series, took);
        self.remaining.retain(|other| *other != slot);
        self.bar.inc(1);
    }

    /// Logs a message above the bar.
    pub(super) fn log(&self, level: log::Level, text: &str) {
        self.bar.suspend(|| log::log!(level, "{text}"));
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn expected(&self, series: usize) -> Duration {
        if let Some(took) = self.took.get(&series) {
            return *took;
        }
        let load = &self.series[series].load;
        let length = match &load.amount {
            #[expect(clippy::cast_precision_loss, reason = "request counts stay below 2^53")]
            Amount::Requests(requests) => Duration::from_secs_f64(*requests as f64 / ASSUMED_RATE),
            Amount::Duration(span) => span.0,
            Amount::Stages(stages) => total(stages),
            Amount::Samples(_) => Duration::from_millis(1_500),
            Amount::Counted { .. } => Duration::ZERO,
            Amount::Starts(starts) => Duration::from_millis(30) * *starts,
        };
        let once = length + load.warmup.map_or(Duration::ZERO, |span| span.0) + OVERHEAD;
        once * if load.search.is_some() { MOST_STEPS } else { 1 }
    }
}

/// A length of time for a progress line: `45 s`, `3 min`.
pub fn remaining(length: Duration) -> String {
    let seconds = length.as_secs_f64();
    if seconds < 90.0 {
        format!("{seconds:.0} s")
    } else {
        format!("{:.0} min", (seconds / 60.0).ceil())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_record::run::Variant;

    #[test]
    fn the_time_left_is_at_most_that_of_the_budget() {
        let slot = |round| Slot {
            position: 0,
            round,
            series: 0,
            variant: Variant::Candidate,
            stage: 1,
        };
        let mut progress = Progress::new(&[]);
        progress.enter(None, "round", &(0..20).map(slot).collect::<Vec<_>>());
        progress.end(slot(0), Duration::from_secs(60));
        let now = Instant::now();
        assert_eq!(progress.left(now), Duration::from_secs(19 * 60));
        progress.deadline = Some(now + Duration::from_secs(240));
        assert_eq!(progress.left(now), Duration::from_secs(240));
        progress.deadline = Some(now + Duration::from_secs(24 * 60));
        assert_eq!(progress.left(now), Duration::from_secs(19 * 60));
    }

    #[test]
    fn one_is_no_plural() {
        assert_eq!(
            [number(1, "pair"), number(2, "pair"), number(0, "pair")],
            ["1 pair", "2 pairs", "0 pairs"]
        );
    }
}
