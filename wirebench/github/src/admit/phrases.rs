//! Replaces known texts of a record, recognised by their beginning or a part, with wirebench's own wording; other texts
//! are dropped.

use wirebench_record::comparison::{ComparedMetric, Verdict};

/// The sentence on which metrics gate, without the names in the record.
pub(super) const GATES: &str =
    "counts gate where there are any, and server CPU per request informs then, unless wirebench.toml says otherwise";
/// Why a worsening is meant: its own words are in the file.
pub(super) const ACCEPTED: &str = "accepted.toml says why";
/// The replacement for a text that is dropped.
const ELSEWHERE: &str = "the run's own summary says why";

const NOTES: [(&str, &str); 7] = [
    (
        "The sides run different versions of packages",
        "The sides run different versions of packages.",
    ),
    (
        "no time was left in the budget",
        "No fresh rounds: no time was left in the budget.",
    ),
    (
        "a verdict needs",
        "No fresh rounds: the first stage had too few rounds.",
    ),
    (
        "The run did not reach its end",
        "The run did not reach its end: fewer pairs than planned.",
    ),
    (
        "The baseline's files were modified",
        "The baseline's files were modified beyond its commit.",
    ),
    (
        "The candidate's files were modified",
        "The candidate's files were modified beyond its commit.",
    ),
    (
        "Server and load generator shared all cores",
        "Server and load generator shared all cores.",
    ),
];

const SERIES: [(&str, &str); 11] = [
    (
        "the baseline declares this series differently",
        "the baseline declares this series differently: part of the difference may be the question's",
    ),
    (
        "client-bound",
        "client-bound: its throughput and latency are the load generator's",
    ),
    ("no good round of the baseline", "no good round of the baseline"),
    ("no good round of the candidate", "no good round of the candidate"),
    (
        "nothing was counted on the baseline",
        "nothing was counted on the baseline",
    ),
    (
        "nothing was counted on the candidate",
        "nothing was counted on the candidate",
    ),
    ("nothing was counted on both sides", "nothing was counted on both sides"),
    ("refused on both sides", "some figures were refused on both sides"),
    ("same program", "both sides run the same program: nothing was measured"),
    ("was interrupted", "not measured: the run was interrupted"),
    ("no pair of good rounds", "no pair of good rounds"),
];

/// Reasons of metrics; `{margin}` and `{kept}` stand for the metric's own numbers.
const METRIC: [(&str, &str); 20] = [
    ("usable pairs of rounds", "only {kept} usable pairs of rounds"),
    (
        "no fresh rounds were measured",
        "looks worse, and no fresh rounds were measured to confirm it",
    ),
    (
        "not beyond doubt",
        "looks worse, but not beyond doubt over all that was tested",
    ),
    (
        "some rounds are far off",
        "some rounds are far off: the test sees a change, the interval of their differences does not",
    ),
    ("is not excluded", "a worsening above 10 % is not excluded"),
    (
        "without a percentage",
        "0 on the baseline, and more on the candidate: a worsening without a percentage",
    ),
    (
        "spread over repetitions is too wide",
        "the spread over repetitions is too wide",
    ),
    (
        "can be neither shown nor excluded",
        "a worsening above 10 % is not excluded",
    ),
    ("figure was refused", "a side's figure was refused"),
    ("has no such figure", "a side has no such figure"),
    ("is no count", "a side's figure is no count"),
    ("in which requests wait", "a new system call in which requests wait"),
    ("the same code twice", "the same code twice differed as well"),
    ("exactly equal", "exactly equal"),
    ("no worsening", "no worsening above the size beside it"),
    (
        "were client-bound",
        "worse by more than 10 %; it does not gate, as most of the candidate's rounds were client-bound",
    ),
    ("from where it gates", "worse by more than 10 %, from where it gates"),
    ("within the range", "worse, and {margin} % lies within the range"),
    ("worse where nothing may change", "worse where nothing may change"),
    ("better where nothing may change", "better where nothing may change"),
];

/// Why there are no fresh rounds.
const NO_SECOND_STAGE: [(&str, &str); 4] = [
    (
        "nothing looked changed",
        "no fresh rounds: nothing looked changed in the first stage",
    ),
    (
        "was interrupted",
        "no fresh rounds: the run was interrupted before them",
    ),
    ("no time was left", "no fresh rounds: no time was left in the budget"),
    ("a verdict needs", "no fresh rounds: the first stage had too few rounds"),
];

fn known(all: &[(&str, &'static str)], text: &str) -> Option<&'static str> {
    all.iter().find(|(part, _)| text.contains(part)).map(|(_, ours)| *ours)
}

/// The notes that are known, each once, and how many are not.
pub(super) fn notes(given: &[String]) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    let mut others = 0;
    for note in given {
        match known(&NOTES, note) {
            Some(ours) if notes.iter().any(|note| note == ours) => {}
            Some(ours) => notes.push(ours.to_owned()),
            None => others += 1,
        }
    }
    match others {
        0 => {}
        1 => notes.push("One more note is in the run's own summary.".into()),
        more => notes.push(format!("{more} more notes are in the run's own summary.")),
    }
    notes
}

/// The reason of a series; `None` if it is unknown and the series is `whole` without it.
pub(super) fn series(given: &str, whole: bool) -> Option<String> {
    let otherwise = (!whole).then_some(ELSEWHERE);
    known(&SERIES, given).or(otherwise).map(str::to_owned)
}

/// Why there are no fresh rounds.
pub(super) fn no_second_stage(given: &str) -> String {
    known(&NO_SECOND_STAGE, given)
        .unwrap_or("no fresh rounds: the run's own summary says why")
        .to_owned()
}

/// The reason of a metric's verdict, with its own numbers.
pub(super) fn metric(metric: &ComparedMetric) -> String {
    let margin = metric.margin_percent;
    if let Some(ours) = known(&METRIC, &metric.reason) {
        return (ours.replace("{margin}", &margin.to_string())).replace("{kept}", &metric.kept.to_string());
    }
    match metric.verdict {
        Verdict::Regressed if metric.reason.contains("worse") => format!("worse by more than {margin} %"),
        Verdict::Improved if metric.reason.contains("better") => format!("better by more than {margin} %"),
        _ => ELSEWHERE.to_owned(),
    }
}
