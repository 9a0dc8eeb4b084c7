//! How a server is warmed up and how long its rounds last: measured once for each series, and the same on all sides.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use log::Level;

use crate::count::busy;
use crate::measure::error::{MeasureError, written};
use crate::measure::side::Side;
use crate::measure::staging::is_native;
use crate::normalise;
use crate::session::Session;
use crate::session::pass::{RawRound, before_rounds};
use wirebench_declare::load::{Load, MOST_REQUESTS, Rate};
use wirebench_declare::plan::warm_up::{self, FEWEST_REQUESTS, Part, WarmUp, next_part, warm_up_so_far};
use wirebench_declare::plan::{PlannedSeries, Slot};
use wirebench_declare::scenario::Amount;
use wirebench_declare::span::{Span, nanos};
use wirebench_record::check::FailedCheck;
use wirebench_record::run::{CpuTime, Round, RoundStatus, Variant};

/// How much longer a part of the load may take before the load generator is stopped.
const SPARE: Duration = Duration::from_secs(5);
/// A round is made longer by at most this factor.
const MOST_LONGER: u32 = 10;
/// The share of the budget that one round may last after it was made longer.
const LONGEST_ROUND: f64 = 0.02;
/// A round with fewer good requests is invalid: its CPU time per request and its latencies are those of single requests.
const FEWEST_USABLE: u64 = 20;
/// Once a round has to be longer, it is planned for this many times the fewest requests.
const SPARE_REQUESTS: u64 = 2;

/// The time limits of what is measured before rounds, and of rounds that are made longer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// For observing one side of a series.
    observing: Duration,
    /// For one round.
    round: Duration,
}

impl Limits {
    /// Without a budget.
    pub(super) const NONE: Self = Self {
        observing: warm_up::LONGEST,
        round: Duration::MAX,
    };

    /// Of a comparison of that many series.
    pub(super) fn within(budget: Duration, series: usize) -> Self {
        let series = u32::try_from(series).unwrap_or(u32::MAX);
        Self {
            observing: warm_up::observing(budget, series),
            round: budget.mul_f64(LONGEST_ROUND),
        }
    }
}

impl Session<'_> {
    /// The load of a round: the declared one with its rate in requests per second, and longer if the rounds before had too few
    /// requests; and the requests that warm its servers up.
    pub(super) fn load_of(&mut self, index: usize) -> Result<(Load, u64), MeasureError> {
        let warmup_requests = self.warm_up_requests(index)?;
        let mut load = self.setup.series[index].load.clone();
        if let Some(length) = self.lengths.get(&index) {
            load.amount = Amount::Duration(Span(*length));
        }
        Ok((self.at_rate(index, load)?, warmup_requests))
    }

    /// The requests that warm the servers of a series up, beyond its declared warm-up; measured before its first round.
    fn warm_up_requests(&mut self, index: usize) -> Result<u64, MeasureError> {
        if let Some(known) = self.warmup_requests.get(&index) {
            return Ok(*known);
        }
        let began = Instant::now();
        let WarmUp { requests, is_known } = self.measure_warm_up(index)?;
        self.recorder.run.spent.calibrate_ns += nanos(began.elapsed());
        self.warmup_requests.insert(index, requests);
        let load = &mut self.recorder.run.series[index].load;
        load.warmup_requests = (requests > 0).then_some(requests);
        load.warmup_unknown_after_ns = (!is_known).then(|| nanos(self.limits.observing));
        let id = &self.setup.series[index].id;
        if !is_known {
            let after = Span(self.limits.observing).as_flag();
            let text = format!("{id}: no sign after {after} that its servers are warm, so the rounds give no verdict");
            self.progress.log(Level::Warn, &text);
        } else if requests > 0 {
            let text = format!("{id}: warmed up by {requests} more requests, until CPU per request no longer falls");
            self.progress.log(Level::Info, &text);
        }
        Ok(requests)
    }

    /// Observes a fresh server of each side, unless all were compiled; the side that needs more decides for all.
    fn measure_warm_up(&self, index: usize) -> Result<WarmUp, MeasureError> {
        let mut most = WarmUp {
            requests: 0,
            is_known: true,
        };
        let series = &self.setup.series[index];
        let harness = &self.setup.prepared.harness;
        let on_hosts = harness.host.is_some() || harness.driver_host.is_some();
        if series.load.warmup.is_none() || series.load.is_without_server() || on_hosts {
            return Ok(most);
        }
        let is_judged = |variant: &&Variant| matches!(variant, Variant::Baseline | Variant::Candidate);
        let variants = self.recorder.variants[index].iter();
        let judged: Vec<Variant> = variants.filter(is_judged).copied().collect();
        let prepared = self.setup.prepared;
        let is_broken = |variant: &Variant| prepared.broken(series, self.setup.side(*variant)).is_some();
        if judged.iter().any(is_broken)
            || judged
                .iter()
                .all(|variant| is_compiled(self.setup.side(*variant), series))
        {
            return Ok(most);
        }
        for variant in judged {
            match self.observe(series, index, variant) {
                Err(MeasureError::Interrupted) => return Err(MeasureError::Interrupted),
                // Its rounds will fail, with their reason.
                Err(_) => {}
                Ok(found) => {
                    most.requests = most.requests.max(found.requests);
                    most.is_known &= found.is_known;
                }
            }
        }
        Ok(most)
    }

    /// Loads a fresh server part by part until it is warm.
    fn observe(&self, series: &PlannedSeries, index: usize, variant: Variant) -> Result<WarmUp, MeasureError> {
        let slot = before_rounds(index, variant);
        let folder = self.raw_folder(&format!("warm-up-{}-{}", variant.name(), series.id));
        fs::create_dir_all(&folder).map_err(|error| MeasureError::Failed(error.to_string()))?;
        let found = self.observe_in(series, slot, &folder);
        if !self.setup.keep_raw {
            let _ = fs::remove_dir_all(&folder);
        }
        found
    }

    fn observe_in(&self, series: &PlannedSeries, slot: Slot, folder: &Path) -> Result<WarmUp, MeasureError> {
        let harness = &self.setup.prepared.harness;
        let at_most = self.limits.observing;
        let load = |requests| Load {
            amount: Amount::Requests(requests),
            warmup: None,
            timeout: Some(Span(at_most * 2 + SPARE)),
            rate: series.load.rate.filter(|rate| matches!(rate, Rate::PerSecond(_))),
            search: None,
            ..series.load.clone()
        };
        let side = self.setup.side(slot.variant);
        let mut target = harness.start(side, &side.server_of(series), folder)?;
        let request = harness.request(series, &target)?;
        request.check(&target.front.address)?;
        let began = Instant::now();
        let mut parts: Vec<Part> = Vec::new();
        let found = loop {
            let requests = next_part(&parts, series.load.workers());
            let part = series.with_load(load(requests.min(MOST_REQUESTS / 2)));
            let measured = harness.measure_load(&part, folder, &request, &mut target, 0)?;
            let round = normalise::round(self.setup.jq, &part, slot, &measured, folder);
            if round.status != RoundStatus::Ok && round.ok_count.unwrap_or(0) < requests {
                return Err(MeasureError::Failed(round.reason.unwrap_or_default()));
            }
            parts.push(Part {
                requests: round.ok_count.unwrap_or(0),
                cpu_ns: round.server_cpu_ns.map_or(0, CpuTime::total),
                wall_ns: nanos(measured.wall),
            });
            if let Some(known) = warm_up::warm_up(&parts) {
                break known;
            }
            if began.elapsed() >= at_most {
                break warm_up_so_far(&parts, busy::slowdown(harness.cores.available));
            }
        };
        written(folder, target.stop())?;
        Ok(found)
    }

    /// Makes the next rounds of a series longer if a round just measured had too few requests, whichever variant it was.
    pub(super) fn lengthen(&mut self, raws: &[RawRound]) {
        for raw in raws {
            let index = raw.slot.series;
            let mut rounds = self.recorder.run.series[index].rounds.iter().rev();
            let round = rounds.find(|round| round.position == raw.slot.position);
            let (Some(round), Amount::Duration(Span(length))) = (round, &raw.series.load.amount) else {
                continue;
            };
            let Some((made, _)) = too_few(&raw.series.load, round).filter(|_| round.failed_count == Some(0)) else {
                continue;
            };
            let declared = match &self.setup.series[index].load.amount {
                Amount::Duration(Span(declared)) => *declared,
                _ => continue,
            };
            let longest = declared
                .saturating_mul(MOST_LONGER)
                .min(self.limits.round.max(declared));
            let factor = (SPARE_REQUESTS * FEWEST_REQUESTS).div_ceil(made.max(1));
            let factor = u32::try_from(factor).unwrap_or(u32::MAX);
            let known = self.lengths.get(&index).copied().unwrap_or(declared);
            let wanted = length.saturating_mul(factor).min(longest);
            if wanted <= known {
                continue;
            }
            self.lengths.insert(index, wanted);
            self.recorder.run.series[index].load.lengthened_to_ns = Some(nanos(wanted));
            let (id, length) = (&self.setup.series[index].id, Span(wanted).as_flag());
            let text = format!("{id}: a round had {made} good requests, so the next rounds last {length}");
            self.progress.log(Level::Info, &text);
        }
    }
}

/// The good requests of a round, if they are fewer than a round of a fixed duration needs, and its length, ns. In an open loop
/// and with pauses the declared load has so few.
fn too_few(load: &Load, round: &Round) -> Option<(u64, u64)> {
    let Amount::Duration(Span(length)) = &load.amount else {
        return None;
    };
    let made = round.ok_count.filter(|made| *made < FEWEST_REQUESTS)?;
    (!load.is_open() && load.pause.is_none()).then_some((made, nanos(*length)))
}

/// Makes a round with hardly any good requests invalid. One with some is used, and the next ones are longer: a server whose
/// responses take seconds, or are far away, has no others.
pub(super) fn refuse_short(load: &Load, round: &mut Round) {
    if let Some((made, duration_ns)) = too_few(load, round).filter(|(made, _)| (1..FEWEST_USABLE).contains(made)) {
        round.refuse(vec![FailedCheck::TooFewRequests {
            made,
            needed: FEWEST_USABLE,
            duration_ns,
        }]);
    }
}

/// True if every program of the server was compiled from the side's own sources: such a program is warm after one slice.
fn is_compiled(side: &Side, series: &PlannedSeries) -> bool {
    let server = &series.server.name;
    let tier = format!("{server}/");
    let own = fs::canonicalize(&side.folder).unwrap_or_else(|_| side.folder.clone());
    let is_own = |command: &Vec<String>| {
        let program = command.first().map(fs::canonicalize).and_then(Result::ok);
        program.is_some_and(|program| program.starts_with(&own) && is_native(&program))
    };
    (side.programs.iter())
        .filter(|(key, _)| *key == server || key.starts_with(&tier))
        .all(|(key, command)| side.packages.contains(key) || is_own(command))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(made: u64) -> Round {
        Round {
            ok_count: Some(made),
            status: RoundStatus::Ok,
            ..Round::unmeasured(Variant::Candidate, 0, 0, 1)
        }
    }

    #[test]
    fn a_timed_round_of_a_closed_loop_wants_two_hundred_requests_and_needs_twenty() {
        let second = Amount::Duration(Span(Duration::from_secs(1)));
        let closed = Load::closed(4, second);
        assert_eq!(too_few(&closed, &round(199)), Some((199, 1_000_000_000)));
        assert_eq!(too_few(&closed, &round(200)), None);
        assert_eq!(too_few(&closed.at(10), &round(10)), None, "its rate is declared");
        assert_eq!(
            too_few(&Load::closed(4, Amount::Requests(5)), &round(5)),
            None,
            "its number is declared"
        );
        let mut some = round(46);
        refuse_short(&closed, &mut some);
        assert_eq!(some.reason, None);
        let mut few = round(10);
        refuse_short(&closed, &mut few);
        let reason = few.reason.unwrap();
        assert!(
            reason.contains("10 good requests in 1 s") && reason.contains("load.duration to "),
            "{reason}"
        );
    }

    #[test]
    fn observing_and_longer_rounds_stay_within_the_budget() {
        let limits = Limits::within(Duration::from_secs(240), 3);
        assert_eq!(limits.observing, Duration::from_secs(5));
        assert_eq!(limits.round, Duration::from_millis(4_800));
    }
}
