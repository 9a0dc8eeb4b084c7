//! How much of a run can be trusted: how many of its rounds are good, and what was in their way.

use std::collections::BTreeMap;

use crate::report::format::three_digits;
use crate::site::shown::{grouped, plural, sentence};
use wirebench_judge::summary::{Row, counted, sections};
use wirebench_record::run::{Bound, Round, RoundStatus, Run, RunStatus, Series, SeriesStatus};

/// The rounds of one run, or of several, by how they went.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Tally {
    /// All of them.
    pub(super) rounds: usize,
    /// Those that passed every check and were not dropped.
    pub(super) good: usize,
    /// Measured, but a check failed.
    pub(super) invalid: usize,
    /// Not measured.
    pub(super) failed: usize,
    /// Good, but left out because the machine was disturbed.
    pub(super) dropped: usize,
    /// Why rounds are not good: the reason without its numbers → how often, and one example.
    reasons: BTreeMap<String, (usize, String)>,
}

/// Whether a run can be trusted: a word, a sentence, and limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Trust {
    /// Yes, in part, or no.
    pub(super) word: &'static str,
    /// Why.
    pub(super) sentence: String,
    /// What limits it: the client's ceiling, a busy machine.
    pub(super) limits: Vec<String>,
}

/// The status of a round, as one word for tables and style sheets.
pub(super) const fn word(round: &Round) -> &'static str {
    match round.status {
        RoundStatus::Ok if round.dropped.is_some() => "dropped",
        RoundStatus::Ok => "ok",
        RoundStatus::Invalid => "invalid",
        RoundStatus::Failed => "failed",
    }
}

/// Why a round is not good; `None` when it is good.
pub(super) fn why(round: &Round) -> Option<&str> {
    match round.status {
        RoundStatus::Ok => round.dropped.as_deref(),
        RoundStatus::Invalid | RoundStatus::Failed => Some(round.reason.as_deref().unwrap_or("no reason recorded")),
    }
}

impl Tally {
    /// Of one run.
    pub(super) fn of(run: &Run) -> Self {
        let mut tally = Self::default();
        tally.add(run);
        tally
    }

    /// Adds the rounds of a run.
    pub(super) fn add(&mut self, run: &Run) {
        for round in run.series.iter().flat_map(|series| &series.rounds) {
            self.rounds += 1;
            match word(round) {
                "ok" => self.good += 1,
                "dropped" => self.dropped += 1,
                "invalid" => self.invalid += 1,
                _ => self.failed += 1,
            }
            if let Some(why) = why(round) {
                let known = self.reasons.entry(kind(why)).or_insert_with(|| (0, sentence(why)));
                known.0 += 1;
            }
        }
    }

    /// Why rounds are not good, the most frequent reason first: how often, and one example of it. Reasons that differ in
    /// their numbers only are one.
    pub(super) fn ranked(&self) -> Vec<(usize, &str)> {
        let mut all: Vec<(usize, &str)> = self.reasons.values().map(|(count, text)| (*count, &**text)).collect();
        all.sort_by_key(|(count, text)| (std::cmp::Reverse(*count), *text));
        all
    }

    /// `3 invalid, 2 dropped`; empty when all are good.
    pub(super) fn left_out(&self) -> String {
        let parts = [
            (self.invalid, "invalid"),
            (self.failed, "failed"),
            (self.dropped, "dropped"),
        ];
        let parts = parts.into_iter().filter(|(count, _)| *count > 0);
        let parts: Vec<String> = parts
            .map(|(count, word)| format!("{} {word}", grouped(count)))
            .collect();
        parts.join(", ")
    }
}

/// A reason without its numbers.
fn kind(why: &str) -> String {
    let mut out = String::new();
    for c in why.chars().take(200) {
        if c.is_ascii_digit() {
            if !out.ends_with('#') {
                out.push('#');
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// Whether a run can be trusted.
pub(super) fn trust(run: &Run) -> Trust {
    let tally = Tally::of(run);
    let (word, mut sentence) = rounds(run, &tally);
    if let Some(reason) = run.reason.as_deref().filter(|_| run.status != RunStatus::Complete) {
        sentence = format!("{sentence} {}.", self::sentence(reason).trim_end_matches('.'));
    }
    Trust {
        word,
        sentence,
        limits: [client_bound(run), steal(run), counts(run)]
            .into_iter()
            .flatten()
            .collect(),
    }
}

fn rounds(run: &Run, tally: &Tally) -> (&'static str, String) {
    if tally.rounds == 0 {
        return nothing_timed(run);
    }
    let all = plural(tally.rounds, "round");
    let good = format!("{} of {all}", grouped(tally.good));
    let left = tally.left_out();
    if tally.good == 0 {
        return ("No", format!("Not one of {all} is good: {left}."));
    }
    match run.status {
        RunStatus::Complete if left.is_empty() => {
            let timed = run.series.iter().filter(|series| !series.is_counted()).count();
            ("Yes", format!("All {all} of {timed} series passed every check."))
        }
        RunStatus::Complete => ("Yes", format!("{good} passed every check and count; {left} do not.")),
        RunStatus::Incomplete => {
            let left = match left.is_empty() {
                true => left,
                false => format!(" ({left})"),
            };
            let sentence = format!("The run did not reach its end; {good} that it got to are good{left}.");
            ("In part", sentence)
        }
        RunStatus::Failed => {
            let whole = whole(run.series.iter());
            let left = match left.is_empty() {
                true => left,
                false => format!(": {left}"),
            };
            let sentence = format!(
                "{whole} of {} series are whole; {good} are good{left}.",
                run.series.len()
            );
            ("In part", sentence)
        }
    }
}

/// A run without timed rounds.
fn nothing_timed(run: &Run) -> (&'static str, String) {
    let (all, whole) = (counted(run).count(), whole(counted(run)));
    match whole {
        0 => ("No", "Nothing was measured.".into()),
        _ if whole == all => ("Yes", "Everything was counted, nothing timed.".into()),
        _ => {
            let all = plural(all, "counted series");
            ("In part", format!("{whole} of {all} are whole; nothing was timed."))
        }
    }
}

/// How many of these series are whole.
fn whole<'a>(series: impl Iterator<Item = &'a Series>) -> usize {
    series.filter(|series| series.status == SeriesStatus::Ok).count()
}

fn client_bound(run: &Run) -> Option<String> {
    let rows: Vec<Row> = sections(run).into_iter().flat_map(|section| section.rows).collect();
    let bound = rows.iter().filter(|row| row.bound == Some(Bound::Client)).count();
    let loaded = rows.iter().filter(|row| row.has_load()).count();
    (bound > 0).then(|| {
        format!(
            "{bound} of {loaded} throughputs are client-bound: what the driver can send, not what the server can answer. \
             Compare server CPU per request there."
        )
    })
}

/// The share of all CPU time that the hypervisor gave to others while the load ran; none when nobody looked.
#[expect(clippy::cast_precision_loss, reason = "times stay far below 2^53 ns")]
pub(super) fn steal_percent(run: &Run) -> Option<f64> {
    let (mut stolen, mut all) = (0.0, 0.0);
    for series in &run.series {
        let cpus = f64::from(run.host_of(&series.id).cpu_count);
        for round in &series.rounds {
            if let (Some(steal), Some(length)) = (round.host_steal_ns, round.elapsed_ns) {
                stolen += steal as f64;
                all += length as f64 * cpus;
            }
        }
    }
    (all > 0.0).then(|| stolen / all * 100.0)
}

fn steal(run: &Run) -> Option<String> {
    let percent = steal_percent(run)?;
    Some(if percent < 0.005 {
        "The hypervisor took no CPU time away while the load ran.".into()
    } else {
        format!(
            "The hypervisor gave {} % of the CPU time to others while the load ran.",
            three_digits(percent)
        )
    })
}

fn counts(run: &Run) -> Option<String> {
    let (all, whole) = (counted(run).count(), whole(counted(run)));
    (all > 0).then(|| format!("{whole} of {all} counted series are whole."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::samples;

    #[test]
    fn a_run_without_a_flaw_is_trusted() {
        let trust = trust(&samples::reference());
        assert_eq!(
            (trust.word, &*trust.sentence),
            ("Yes", "All 78 rounds of 26 series passed every check.")
        );
        assert!(
            trust.limits[0].starts_with("18 of 22 throughputs are client-bound"),
            "{trust:?}"
        );
        assert!(trust.limits[1].contains("hypervisor"), "{trust:?}");
    }

    #[test]
    fn what_is_wrong_is_said_with_its_numbers() {
        let mut run = samples::reference();
        samples::spoil(&mut run);
        let spoiled = trust(&run);
        assert_eq!(spoiled.word, "Yes");
        assert_eq!(
            spoiled.sentence,
            "75 of 78 rounds passed every check and count; 1 invalid, 1 failed, 1 dropped do not."
        );
        run.status = RunStatus::Incomplete;
        run.reason = Some("interrupted.".into());
        let spoiled = trust(&run);
        assert_eq!(spoiled.word, "In part");
        assert!(
            spoiled
                .sentence
                .ends_with("(1 invalid, 1 failed, 1 dropped). interrupted."),
            "{spoiled:?}"
        );
        run.series.iter_mut().for_each(|series| series.rounds.clear());
        assert_eq!(trust(&run).word, "No");
    }

    #[test]
    fn reasons_that_differ_in_numbers_are_one() {
        let mut run = samples::reference();
        for (place, round) in run.series[4].rounds.iter_mut().enumerate() {
            round.status = RoundStatus::Invalid;
            round.reason = Some(format!("{place} of 100 answers were wrong"));
        }
        let tally = Tally::of(&run);
        assert_eq!(tally.ranked(), [(3, "0 of 100 answers were wrong")]);
    }
}
