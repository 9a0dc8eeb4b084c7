//! How much of a run can be trusted: how many of its rounds are good, and what was in their way.

use crate::report::format::{grouped, plural, three_digits};
use crate::site::shown::{name, sentence};
use wirebench_judge::summary::quality::{Tally, steal_percent};
use wirebench_judge::summary::{Row, counted, sections};
use wirebench_record::metric::Metric;
use wirebench_record::run::{Bound, Run, RunStatus, Series, SeriesStatus};

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

/// `3 invalid, 2 dropped`; empty when all are good.
pub(super) fn left_out(tally: &Tally) -> String {
    let parts = [
        (tally.invalid, "invalid"),
        (tally.failed, "failed"),
        (tally.dropped, "dropped"),
    ];
    let parts = parts.into_iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts
        .map(|(count, word)| format!("{} {word}", grouped(count)))
        .collect();
    parts.join(", ")
}

/// The most frequent reasons why rounds are not good: how often, and one example.
pub(super) fn reasons(tally: &Tally, most: usize) -> Vec<(String, String)> {
    let ranked = tally.ranked().into_iter().take(most);
    ranked
        .map(|(count, why)| (plural(count, "round"), sentence(why)))
        .collect()
}

/// Whether a run can be trusted.
pub(super) fn trust(run: &Run) -> Trust {
    let tally = Tally::of(&[run]);
    let (mut word, mut sentence) = rounds(run, &tally);
    let rows: Vec<Row> = sections(run).into_iter().flat_map(|section| section.rows).collect();
    let loaded = rows.iter().filter(|row| row.has_load()).count();
    let doubts = [restless(&rows, loaded), unresolved(&rows)];
    if word == "Yes" && doubts.iter().any(Option::is_some) {
        word = "In part";
    }
    if let Some(reason) = run.reason.as_deref().filter(|_| run.status != RunStatus::Complete) {
        sentence = format!("{sentence} {}.", self::sentence(reason).trim_end_matches('.'));
    }
    Trust {
        word,
        sentence,
        limits: doubts
            .into_iter()
            .chain([client_bound(&rows, loaded), steal(run), counts(run)])
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
    let left = left_out(tally);
    if tally.good == 0 {
        return ("No", format!("Not one of {all} is good: {left}."));
    }
    let after = |open: &str, close: &str| match left.as_str() {
        "" => String::new(),
        left => format!("{open}{left}{close}"),
    };
    match run.status {
        RunStatus::Complete if left.is_empty() => {
            let timed = run.series.iter().filter(|series| !series.is_counted()).count();
            ("Yes", format!("All {all} of {timed} series passed every check."))
        }
        RunStatus::Complete => ("Yes", format!("{good} passed every check and count; {left} do not.")),
        RunStatus::Incomplete => {
            let left = after(" (", ")");
            let sentence = format!("The run did not reach its end; {good} that it got to are good{left}.");
            ("In part", sentence)
        }
        RunStatus::Failed => {
            let whole = whole(run.series.iter());
            let left = after(": ", "");
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

/// Half the range of a throughput over its rounds, in percent of the median, from which it says little: a change would have to be
/// larger than what rounds of the same code differ by.
const RESTLESS_PERCENT: f64 = 25.0;

/// Series whose throughput varies too much from round to round, with the worst of them.
fn restless(rows: &[Row], loaded: usize) -> Option<String> {
    let half_range = |row: &Row| {
        let spread = row.spread(Metric::Throughput)?;
        let percent = 50.0 * (spread.high - spread.low) / spread.median;
        (percent >= RESTLESS_PERCENT).then_some(percent)
    };
    let restless = || rows.iter().filter_map(|row| Some((half_range(row)?, row)));
    let (worst, row) = restless().max_by(|one, other| one.0.total_cmp(&other.0))?;
    Some(format!(
        "{} of {loaded} throughputs vary by ± {RESTLESS_PERCENT} % or more from round to round, {} by ± {worst:.0} %: they show large changes only.",
        restless().count(),
        name(&row.series.id)
    ))
}

/// Series with a median latency of 0.
fn unresolved(rows: &[Row]) -> Option<String> {
    let is_zero = |row: &&Row| row.median(Metric::LatencyP50) == Some(0.0);
    let has = match rows.iter().filter(is_zero).count() {
        0 => return None,
        1 => "1 series has".into(),
        count => format!("{count} series have"),
    };
    Some(format!(
        "{has} a median latency of 0: below what the load generator can resolve."
    ))
}

fn client_bound(rows: &[Row], loaded: usize) -> Option<String> {
    let bound = rows.iter().filter(|row| row.bound == Some(Bound::Client)).count();
    (bound > 0).then(|| {
        format!(
            "{bound} of {loaded} throughputs are client-bound: what the driver can send, not what the server can answer. \
             Compare server CPU per request there."
        )
    })
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
    use wirebench_record::run::RoundStatus;

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
    fn a_throughput_that_halves_from_round_to_round_and_a_latency_of_nothing_are_trusted_in_part() {
        let mut run = samples::reference();
        let series = run
            .series
            .iter_mut()
            .find(|series| series.id == "weather-fixed-count@http@hey")
            .unwrap();
        let elapsed = series.rounds[0].elapsed_ns.unwrap();
        series.rounds[0].elapsed_ns = Some(elapsed / 3);
        let restless = trust(&run);
        assert_eq!(restless.word, "In part");
        assert!(
            restless.limits[0].starts_with(
                "1 of 22 throughputs vary by ± 25 % or more from round to round, weather-fixed-count@http@hey by ± "
            ),
            "{restless:?}"
        );
        let mut run = samples::reference();
        for round in &mut run.series[4].rounds {
            round.latency_ns.as_mut().unwrap().p50 = 0;
        }
        let unresolved = trust(&run);
        assert_eq!(unresolved.word, "In part");
        assert!(
            unresolved.limits[0].starts_with("1 series has a median latency of 0"),
            "{unresolved:?}"
        );
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
        let tally = Tally::of(&[&run]);
        assert_eq!(tally.ranked(), [(3, "0 of 100 answers were wrong")]);
    }
}
