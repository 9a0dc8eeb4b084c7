//! Reasons and notes of a comparison in words: the one place where a fact becomes a sentence. The words may contain text of the
//! record, which the caller must escape.

use crate::report::escape::Escape;
use crate::report::format::{change, declared, plural, size};
use wirebench_judge::summary::comparison::{Row, RowStatus};
use wirebench_record::comparison::{ComparedMetric, ComparedSeries};
use wirebench_record::metric::Metric;
use wirebench_record::reason::{MetricReason, NoSecondStage, Note, SeriesReason};
use wirebench_record::run::Dependency;

/// Shown for a reason that the comparison leaves out.
const ELSEWHERE: &str = "the run's own summary says why";

/// Why a row has its status, in one sentence without a full stop.
pub fn row(row: &Row) -> String {
    let Some(one) = row.metric else {
        let reason = row.series.reason.as_ref();
        return reason.map_or_else(|| "no reason recorded".into(), series);
    };
    match row.status {
        RowStatus::Unchanged => match one.reason {
            MetricReason::WorseWithinMargin { .. } => metric(&one.reason),
            _ => no_worsening_of(one).unwrap_or_else(|| metric(&one.reason)),
        },
        RowStatus::Accepted => {
            let why = one.accepted.as_deref().unwrap_or_default();
            format!("{}, meant: {why}", metric(&one.reason))
        }
        RowStatus::NotJudged => "shown, not judged".into(),
        RowStatus::Regressed | RowStatus::Improved | RowStatus::Inconclusive | RowStatus::Invalid => {
            metric(&one.reason)
        }
    }
}

fn no_worsening_of(metric: &ComparedMetric) -> Option<String> {
    let percent = metric.worse_at_most_percent?;
    let is_zero = |percent: f64| percent.abs() < 1e-9;
    if metric.metric.is_counted() && is_zero(percent) && metric.effect_percent.is_some_and(is_zero) {
        return Some("exactly equal".into());
    }
    Some(no_worsening(percent))
}

/// Why a metric has its verdict, without a full stop.
pub fn metric(reason: &MetricReason) -> String {
    use MetricReason as Reason;
    match reason {
        Reason::WorseThan { percent } => format!("worse by more than {}", declared(*percent)),
        Reason::WorseThanGate { percent } => {
            format!("worse by more than {}, from where it gates", declared(*percent))
        }
        Reason::WorseButClientBound { percent } => format!(
            "worse by more than {}; it does not gate, as most of the candidate's rounds were client-bound",
            declared(*percent)
        ),
        Reason::WorseAroundMargin { percent } => format!("worse, and {} lies within the range", declared(*percent)),
        Reason::WorseWhereNothingMayChange => "worse where nothing may change".into(),
        Reason::WorseFromZero => {
            "0 on the baseline, and more on the candidate: a worsening without a percentage".into()
        }
        Reason::BetterThan { percent } => format!("better by more than {}", declared(*percent)),
        Reason::BetterWhereNothingMayChange => "better where nothing may change".into(),
        Reason::ExactlyEqual => "exactly equal".into(),
        Reason::WorseWithinMargin { percent, margin } => {
            format!(
                "worse, within the margin of {}: at most {}",
                declared(*margin),
                size(*percent)
            )
        }
        Reason::NoWorseningAbove { percent } => no_worsening(*percent),
        Reason::NotExcluded { percent } => format!("a worsening above {} is not excluded", declared(*percent)),
        Reason::SpreadTooWide { percent } => format!(
            "the spread over repetitions is too wide: a worsening of {} can be neither shown nor excluded",
            declared(*percent)
        ),
        Reason::TooFewPairs { usable, needed } => {
            let usable = plural(*usable as usize, "usable pair");
            format!("only {usable} of rounds; {needed} are needed")
        }
        Reason::MaybeNotWarm { .. } => {
            "its servers were perhaps still warming up: CPU time per request had not settled when the rounds began"
                .into()
        }
        Reason::SleepsDiffer {
            baseline,
            candidate,
            others_percent,
        } => {
            let (how, what) = if candidate < baseline {
                ("less", "more work for each request may be hidden")
            } else {
                ("more", "that alone may be the change for the worse")
            };
            let why = others_percent.map_or_else(
                || ", and waking it costs CPU time".into(),
                |share| format!(" while other programs use {share:.0} % of the machine"),
            );
            format!("the server sleeps {how} often ({baseline:.2} → {candidate:.2} times per request){why}: {what}")
        }
        Reason::WorseInEveryPair { usable: 1, needed } => {
            format!("worse in the one usable pair of rounds; {needed} are needed")
        }
        Reason::WorseInEveryPair { usable, needed } => {
            format!("worse in all of {usable} usable pairs of rounds; {needed} are needed")
        }
        Reason::Unconfirmed => "looks worse, and no fresh rounds were measured to confirm it".into(),
        Reason::NotBeyondDoubt => "looks worse, but not beyond doubt over all that was tested".into(),
        Reason::Disputed => {
            "some rounds are far off: the test sees a change, the interval of their differences does not".into()
        }
        Reason::NullDiffers { percent } => {
            let by = percent.map_or_else(String::new, |percent| format!(" by {}", change(percent)));
            format!(
                "the same code twice differs{by}: the baseline measured against its own copy; this \
                 measurement cannot tell a change of the code"
            )
        }
        Reason::NewBlockingCall { call, per_request } => {
            format!("a new system call in which requests wait: {call}, {per_request:.2} per request")
        }
        Reason::FigureRefused { side, why } => because(&format!("the {}'s figure was refused", side.name()), why),
        Reason::FigureMissing { side, why } => because(&format!("the {} has no such figure", side.name()), why),
        Reason::FigureNegative { side, value } => format!("the {}'s figure, {value}, is no count", side.name()),
        Reason::MeasuredAtDifferentTimes => {
            "measured at different times: how much of the difference is the machine's cannot be told".into()
        }
        Reason::CountedAtDifferentTimes => {
            "counted at different times: shown, not judged; processor and system libraries change counts".into()
        }
        Reason::Elsewhere => ELSEWHERE.into(),
        Reason::Text { text } => text.clone(),
    }
}

/// `no worsening above 1.9 %`.
fn no_worsening(above_percent: f64) -> String {
    if above_percent < 0.005 {
        "no worsening".into()
    } else {
        format!("no worsening above {}", size(above_percent))
    }
}

/// Why a series is invalid or was not compared, or another remark on it, without a full stop.
pub fn series(reason: &SeriesReason) -> String {
    use SeriesReason as Reason;
    match reason {
        Reason::SameProgram => "the same program on both sides: nothing was measured".into(),
        Reason::DeclaredDifferently => {
            "the baseline declares this series differently (server.toml, scenario or driver): part of the difference may be \
             the question's"
                .into()
        }
        Reason::ClientBound => "client-bound: its throughput and latency are the load generator's".into(),
        Reason::NoGoodRound { side, why } => because(&format!("no good round of the {}", side.name()), why),
        Reason::NotCounted { side, why } => because(&format!("nothing was counted on the {}", side.name()), why),
        Reason::NothingCounted => "nothing was counted on both sides".into(),
        Reason::Counts { remarks, refused, why } => counts(remarks, refused, why.as_deref()),
        Reason::Interrupted => "not measured: the run was interrupted".into(),
        Reason::InterruptedBeforeCounting => "not counted: the run was interrupted".into(),
        Reason::NoPair => "no pair of good rounds".into(),
        Reason::OtherDigest { baseline, candidate } => format!(
            "different digests, {baseline} and {candidate}: load, server arguments, expected response or driver differ"
        ),
        Reason::OtherDriver {
            driver,
            baseline,
            candidate,
        } => format!("another driver: {driver} {baseline} against {candidate}"),
        Reason::NoGoodRoundInOneRun => "no good round on one side".into(),
        Reason::NothingCountedInOneRun => "nothing was counted in one of the runs".into(),
        Reason::Elsewhere => ELSEWHERE.into(),
        Reason::Text { text } => text.clone(),
    }
}

/// Why this series was not compared, escaped; `None` if the record does not say it.
pub(crate) fn not_compared(one: &ComparedSeries, escape: Escape) -> Option<String> {
    Some(escape.sentence(&series(one.reason.as_ref()?)))
}

fn because(what: &str, why: &str) -> String {
    if why.is_empty() {
        what.to_owned()
    } else {
        format!("{what}: {why}")
    }
}

fn counts(remarks: &[String], refused: &[Metric], why: Option<&str>) -> String {
    let mut parts = remarks.to_vec();
    if !refused.is_empty() {
        let names: Vec<&str> = refused.iter().map(|metric| metric.label()).collect();
        let why = why.map_or_else(String::new, |why| format!(" ({why})"));
        parts.push(format!("refused on both sides: {}{why}", names.join(", ")));
    }
    parts.join("; ")
}

/// Why there was no second stage, without a full stop.
pub fn no_second_stage(why: &NoSecondStage) -> String {
    match why {
        NoSecondStage::TooFewRounds { rounds, needed, .. } => format!(
            "no fresh rounds: the first stage had {} of each variant, and a verdict needs {needed}",
            plural(*rounds as usize, "round")
        ),
        NoSecondStage::NothingLookedChanged => "no fresh rounds: nothing looked changed in the first stage".into(),
        NoSecondStage::Interrupted => "no fresh rounds: the run was interrupted before them".into(),
        NoSecondStage::NoTime { series, .. } => {
            format!("no fresh rounds of {series} series that need them: no time was left in the budget")
        }
        NoSecondStage::Elsewhere => format!("no fresh rounds: {ELSEWHERE}"),
        NoSecondStage::Text { text } => text.clone(),
    }
}

/// What a reader must know before trusting a comparison: a whole sentence.
pub fn note(note: &Note) -> String {
    match note {
        Note::NoSecondStage { why } => sentence(&no_second_stage(why)),
        Note::NotFinished { why } if why.is_empty() => {
            "The run did not reach its end: fewer pairs than planned.".into()
        }
        Note::NotFinished { why } => format!("The run did not reach its end ({why}): fewer pairs than planned."),
        Note::RoundsLeftOut {
            disturbed,
            invalid,
            load_generator,
            server,
        } => rounds_left_out([
            (*disturbed, "with a disturbed machine"),
            (*invalid, "that failed a check"),
            (*load_generator, "in which the load generator failed"),
            (*server, "in which the server failed"),
        ]),
        Note::DifferentPackages { packages, more } => different_packages(packages, *more),
        Note::Modified { side } => format!("The {}'s files were modified beyond its commit.", side.name()),
        Note::SeveralMachines { machines, kinds } => {
            let of = if *kinds > 1 { "different kinds" } else { "one kind" };
            format!(
                "Measured on {machines} machines at once, of {of}; baseline and candidate of a series always on the same one."
            )
        }
        Note::SharedCores => "Server and load generator shared all cores.".into(),
        Note::Unlocked => {
            "Measured without the machine's lock: another measurement may have run beside it.".into()
        }
        Note::MeasuredAtDifferentTimes => {
            "Measured at different times: shown, not judged. To judge, measure both side by side: wirebench run --baseline REV"
                .into()
        }
        Note::DifferentMachines { baseline, candidate } => {
            format!("Measured on different machines: {baseline} and {candidate}.")
        }
        Note::OtherBase { measured, now } => {
            format!("Measured against {measured}; this pull request is offered to {now} now.")
        }
        Note::Newer => "A newer version of wirebench left a note that this one does not know.".into(),
        Note::Elsewhere { notes: 1 } => "One more note is in the run's own summary.".into(),
        Note::Elsewhere { notes } => format!("{notes} more notes are in the run's own summary."),
        Note::Text { text } => text.clone(),
    }
}

/// `Left out: 10 rounds with a disturbed machine, 1 round that failed a check.`
fn rounds_left_out(kinds: [(u32, &str); 4]) -> String {
    let each = kinds
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, kind)| format!("{} {kind}", plural(count as usize, "round")));
    format!("Left out: {}.", each.collect::<Vec<_>>().join(", "))
}

fn different_packages(packages: &[Dependency], more: u32) -> String {
    let version = |version: &Option<String>| version.clone().unwrap_or_else(|| "none".into());
    let each = |one: &Dependency| format!("{} {} → {}", one.name, version(&one.baseline), version(&one.candidate));
    let each: Vec<String> = packages.iter().map(each).collect();
    match (each.is_empty(), more) {
        (true, _) => "The sides run different versions of packages.".into(),
        (false, 0) => format!("The sides run different versions of packages: {}.", each.join(", ")),
        (false, more) => format!(
            "The sides run different versions of packages: {} and {more} more.",
            each.join(", ")
        ),
    }
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}
