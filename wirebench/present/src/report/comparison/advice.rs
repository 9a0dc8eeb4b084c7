//! The second line: what to do next, with commands ready to be copied.

use crate::by_key;
use crate::report::comparison::rows::{bounds, effect};
use crate::report::comparison::{functions, reasons};
use crate::report::escape::Escape;
use crate::report::format::{declared, plain};
use wirebench_judge::summary::comparison::{Findings, Row, RowStatus, is_new_call};
use wirebench_record::comparison::Comparison;
use wirebench_record::counts::BUSY_MACHINE;
use wirebench_record::metric::Metric;
use wirebench_record::reason::{MetricReason, NoSecondStage};
use wirebench_record::run::short_commit;

/// The most acceptances that are written out, each of a series; for more a glob is better.
const COMMANDS: usize = 3;
/// The longest name that is put into a command, bytes; this program writes none that is longer.
const NAME: usize = 300;
/// Accepts a rise from 0, which has no percentage: the largest size that can be written.
const FROM_NOTHING_PERCENT: f64 = 999.0;
/// If more than this many times the measuring time is needed, a quieter machine is advised instead.
const FACTOR_WORTH_IT: f64 = 8.0;

/// What to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// The sentences.
    pub text: String,
    /// The commands that the sentences mention, each a line for a shell.
    pub commands: Vec<String>,
}

/// What is said if nothing needs action.
const NOTHING: &str = "nothing to do.";

impl Advice {
    /// Whether there is anything to do.
    pub(crate) fn is_needed(&self) -> bool {
        self.text != NOTHING
    }
}

/// What to do next.
pub fn of(comparison: &Comparison, findings: &Findings, escape: Escape) -> Advice {
    if !comparison.paired {
        return Advice {
            text: "to judge the change, measure both sides in one run:".into(),
            commands: vec![measure_both(comparison)],
        };
    }
    let first = |status| findings.gating_that(status).next();
    if let Some(row) = first(RowStatus::Regressed) {
        return regressed(row, comparison, findings, escape);
    }
    let text = if let Some(row) = first(RowStatus::Invalid) {
        let more = match findings.gating_that(RowStatus::Invalid).count() - 1 {
            0 => String::new(),
            more => format!(" ({more} more below)"),
        };
        let (row, reason) = (row_name(row, escape), escape.sentence(&reasons::row(row)));
        format!("mend what stopped the measurement: {row}: {reason}{more}")
    } else if let Some(row) = first(RowStatus::Inconclusive) {
        inconclusive(comparison, row, escape)
    } else {
        nothing_gates(comparison, findings, escape)
    };
    Advice {
        text,
        commands: Vec::new(),
    }
}

/// What to do next if no gating row needs action.
fn nothing_gates(comparison: &Comparison, findings: &Findings, escape: Escape) -> String {
    if let Some(row) = findings.worse_without_gating().next() {
        return format!(
            "look at {} first: {}, which does not gate. If it should, set gate = true for it in a [[margins]] entry of \
             wirebench.toml.",
            row_name(row, escape),
            row.metric.map_or_else(String::new, effect)
        );
    }
    if let Some((series, call)) = Findings::new_calls(comparison).first() {
        let (series, call) = (escape.name(&series.id), escape.name(&call.function));
        return format!("look at where {series} calls {call}, which the baseline does not.");
    }
    if Findings::all_the_same_program(comparison) {
        return NOTHING.into();
    }
    if findings.gating.is_empty() {
        return "find out why: the series that are on one side only or were not measured are listed below.".into();
    }
    let accepted = findings.gating_that(RowStatus::Accepted).next();
    match accepted.and_then(|row| Some((row, row.metric?))) {
        Some((row, metric)) => format!(
            "nothing to do. {} {} is accepted: {}",
            row_name(row, escape),
            effect(metric),
            escape.sentence(metric.accepted.as_deref().unwrap_or_default())
        ),
        None => NOTHING.into(),
    }
}

fn regressed(first: &Row, comparison: &Comparison, findings: &Findings, escape: Escape) -> Advice {
    // One command for each series: its metrics got worse together.
    let rows = findings.gating_that(RowStatus::Regressed);
    let series = by_key(rows.map(|row| (&row.series.id, row)));
    let commands = series.iter().take(COMMANDS).filter_map(|(_, rows)| accept(rows));
    let left = match series.len().saturating_sub(COMMANDS) {
        0 => String::new(),
        more => format!(" The other {more} series take the same command, or one glob for all."),
    };
    // The function to look at; for a system call, its caller.
    let costs = first.functions().next();
    let costs = costs.map(|function| escape.name(function.caller.as_ref().unwrap_or(&function.function)));
    let works = || functions::suspect(comparison, findings).map(|(function, _)| functions::placed(function, escape));
    let series = escape.name(&first.series.id);
    let place = match costs.or_else(works) {
        Some(function) => format!("{function} on {series}"),
        None => series,
    };
    Advice {
        text: format!("look at {place}. If the change is meant, say so and why; the entry is reviewed with it:{left}"),
        commands: commands.collect(),
    }
}

fn inconclusive(comparison: &Comparison, row: &Row, escape: Escape) -> String {
    let reason = row.metric.map(|metric| &metric.reason);
    if let Some(MetricReason::MaybeNotWarm { minutes }) = reason {
        let how = match minutes {
            Some(minutes) => format!(
                "Repeat the measurement with --budget {}m: an eighth of the budget is for finding out when servers are warm",
                enough_minutes(comparison).map_or(*minutes, |enough| enough.max(*minutes))
            ),
            None => "Declare a longer load.warmup".into(),
        };
        let reason = escape.sentence(&reasons::row(row));
        return format!("{}: {reason}. {how}.", row_name(row, escape));
    }
    if let Some(MetricReason::SleepsDiffer { others_percent, .. }) = reason {
        let quieter = others_percent.map_or("", |_| ", or where no other program uses its cores");
        return format!(
            "measure {} with a load that keeps the server busy (h2load for HTTP, or more connections){quieter}.",
            escape.name(&row.series.id)
        );
    }
    if row.looks_worse() {
        let reason = escape.sentence(&reasons::row(row));
        let how = enough_time(comparison);
        let how = how.unwrap_or_else(|| "with more time (--budget) where there was too little".into());
        return format!("{} {reason}. Repeat the measurement {how}.", row_name(row, escape));
    }
    let detect = comparison.method.detect_percent;
    let bounds = row.metric.and_then(bounds).unwrap_or_else(|| reasons::row(row));
    let known = format!(
        "least is known of {}: {}.",
        row_name(row, escape),
        escape.sentence(&bounds)
    );
    if let Some(call) = row.functions().find(|call| is_new_call(call)) {
        return format!(
            "look at where {} calls {}, which the baseline does not: a request may wait there.",
            escape.name(&row.series.id),
            escape.name(&call.function)
        );
    }
    if matches!(reason, Some(MetricReason::FigureRefused { why, .. }) if why.starts_with(BUSY_MACHINE)) {
        return format!("{known} Repeat the measurement when the machine has less to do.");
    }
    let is_of_bytes = row.metric.is_some_and(|metric| metric.metric == Metric::WireBytesSent);
    if is_of_bytes && matches!(reason, Some(MetricReason::SpreadTooWide { .. })) {
        return format!(
            "{known} Its responses differ in length by themselves: a [[margins]] entry with gate = false for wire_bytes_sent says so."
        );
    }
    if row.is_counted() {
        return format!(
            "{known} What repeats no better than this does work that requests do not cause: look for timers, background \
             threads and caches."
        );
    }
    let Some((metric, pairs)) = row.metric.zip(row.pairs_to_see(detect)) else {
        return match enough_time(comparison) {
            Some(how) => format!("{known} Repeat the measurement {how}."),
            None => format!("{known} More rounds, or a quieter machine, tell more."),
        };
    };
    let times = f64::from(pairs) / f64::from(metric.kept.max(1));
    if times <= 1.0 {
        return format!("{known} More rounds tell whether it is real.");
    }
    let needed = format!(
        "Seeing {} takes about {pairs} pairs of rounds where {} were used",
        declared(detect),
        metric.kept
    );
    if times <= FACTOR_WORTH_IT {
        format!("{known} {needed}: {times:.1} times the measuring time. A quieter machine needs less.")
    } else {
        format!("{known} {needed}: not worth the time. A quieter machine sees smaller changes.")
    }
}

/// The budget, in minutes, that both stages would have needed; `None` if it was large enough or is unknown.
fn enough_minutes(comparison: &Comparison) -> Option<u32> {
    let (NoSecondStage::TooFewRounds { minutes, .. } | NoSecondStage::NoTime { minutes, .. }) =
        comparison.method.no_second_stage.as_ref()?
    else {
        return None;
    };
    *minutes
}

/// The flag that gives this budget, as the end of a sentence.
fn enough_time(comparison: &Comparison) -> Option<String> {
    let minutes = enough_minutes(comparison)?;
    Some(format!("with --budget {minutes}m, which is enough at this pace"))
}

/// A row's series and metric.
pub(super) fn row_name(row: &Row, escape: Escape) -> String {
    match row.metric {
        Some(metric) => format!("{} {}", escape.name(&row.series.id), metric.metric.label()),
        None => escape.name(&row.series.id),
    }
}

/// The worst end of a worsening's interval, percent.
fn worst_percent(row: &Row) -> Option<f64> {
    let from_nothing = row.metric?.effect_percent.is_none() && row.is_counted();
    let nothing = from_nothing.then_some(FROM_NOTHING_PERCENT);
    let worst = nothing.or_else(|| row.worst_percent());
    worst.filter(|percent| *percent > 0.0)
}

/// The command that accepts the worsenings of a series, up to the worst end of their intervals.
fn accept(rows: &[&Row]) -> Option<String> {
    let at_most = rows
        .iter()
        .filter_map(|row| worst_percent(row))
        .max_by(f64::total_cmp)?;
    let at_most = format!("{:.0}%", at_most.ceil().min(999.0));
    let series = globset::escape(&rows[0].series.id);
    let mut words = vec!["wirebench", "accept", "--series", &series];
    if let [row] = rows {
        words.extend(["--metric", row.metric?.metric.name()]);
    }
    words.extend(["--at-most", &at_most, "--reason", "why it is meant"]);
    let readable = series.len() <= NAME && plain(&series) == series;
    readable.then(|| shell_words::join(words))
}

/// The command that measures both sides in one run.
fn measure_both(comparison: &Comparison) -> String {
    let [baseline, candidate] =
        [&comparison.baseline, &comparison.candidate].map(|side| side.revision.commit.as_deref().map(short_commit));
    let (baseline, candidate) = (baseline.unwrap_or("BASELINE"), candidate.unwrap_or("CANDIDATE"));
    shell_words::join(["wirebench", "run", "--baseline", baseline, "--candidate", candidate])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::escape::TERMINAL;
    use wirebench_testing::golden;

    fn advice(comparison: &Comparison) -> Advice {
        of(comparison, &Findings::of(comparison), TERMINAL)
    }

    #[test]
    fn an_acceptance_covers_the_whole_interval_of_what_got_worse_and_takes_names_as_they_are() {
        let mut comparison = golden("regressed");
        let row = comparison
            .series
            .iter_mut()
            .find(|series| series.verdict == Some(comparison.verdict));
        let series = row.unwrap();
        series.id = "a*b@it's@x".into();
        series.metrics.retain(|metric| metric.primary);
        series.metrics[0].effect_high_percent = Some(13.2);
        let found = advice(&comparison).commands;
        let words = shell_words::split(&found[0]).unwrap();
        assert_eq!(words[3], "a[*]b@it's@x");
        assert!(
            found[0].contains("--at-most '14%'") || found[0].contains("--at-most 14%"),
            "{found:?}"
        );
    }

    #[test]
    fn no_command_is_made_of_text_that_hides_something() {
        let mut comparison = golden("regressed");
        for series in &mut comparison.series {
            series.id = "a\u{202e}b".into();
        }
        assert_eq!(advice(&comparison).commands, Vec::<String>::new());
    }

    #[test]
    fn more_rounds_are_advised_only_where_they_help() {
        let mut comparison = golden("inconclusive");
        let mut with = |resolvable| {
            for metric in comparison.series.iter_mut().flat_map(|series| &mut series.metrics) {
                (metric.margin_percent, metric.resolvable_percent, metric.kept) = (1.0, Some(resolvable), 20);
            }
            advice(&comparison).text
        };
        assert!(with(9.0).contains("80 pairs of rounds where 20 were used: 4.0 times"));
        assert!(with(60.0).contains("not worth the time"));
        assert!(with(4.0).contains("More rounds tell"));
    }

    #[test]
    fn a_figure_that_a_busy_machine_made_vary_blames_the_machine() {
        let mut comparison = golden("inconclusive");
        let advised = |comparison: &mut Comparison, why: String| {
            for metric in comparison.series.iter_mut().flat_map(|series| &mut series.metrics) {
                metric.metric = Metric::Instructions;
                let side = wirebench_record::run::Variant::Baseline;
                metric.reason = MetricReason::FigureRefused { side, why: why.clone() };
            }
            advice(comparison).text
        };
        let busy = advised(
            &mut comparison,
            format!("{BUSY_MACHINE}: load 21 on 2 cores; repetitions differ"),
        );
        assert!(busy.contains("when the machine has less to do"), "{busy}");
        let quiet = advised(&mut comparison, "repetitions differ".into());
        assert!(quiet.contains("timers"), "{quiet}");
    }

    #[test]
    fn bytes_of_responses_that_differ_in_length_blame_the_responses() {
        let mut comparison = golden("inconclusive");
        for metric in comparison.series.iter_mut().flat_map(|series| &mut series.metrics) {
            metric.metric = Metric::WireBytesSent;
            metric.reason = MetricReason::SpreadTooWide { percent: 5.0 };
        }
        let text = advice(&comparison).text;
        assert!(text.contains("differ in length") && !text.contains("timers"), "{text}");
    }

    #[test]
    fn what_looks_worse_is_to_be_measured_again_not_shrugged_off() {
        let mut comparison = golden("inconclusive");
        let looks = &mut comparison.series[1].metrics[0];
        (looks.effect_low_percent, looks.effect_high_percent) = (Some(6.0), Some(12.0));
        looks.reason = MetricReason::Unconfirmed;
        let text = advice(&comparison).text;
        assert!(
            text.contains("no fresh rounds") && text.contains("Repeat the measurement"),
            "{text}"
        );
        let line = crate::report::comparison::terminal::one_line(&comparison);
        assert!(
            line.contains("2 of 3 gating metrics: worse, not confirmed: ") && line.contains("(+6.0 to +12.0 %)"),
            "{line}"
        );
    }

    #[test]
    fn changes_of_throughput_are_accepted_by_their_worse_end_too() {
        let mut comparison = golden("regressed");
        for series in &mut comparison.series {
            for metric in &mut series.metrics {
                metric.better = wirebench_record::metric::Better::Higher;
                metric.effect_percent = metric.effect_percent.map(|percent| -percent);
                let (low, high) = (metric.effect_low_percent, metric.effect_high_percent);
                metric.effect_low_percent = high.map(|percent| -percent);
                metric.effect_high_percent = low.map(|percent| -percent);
            }
        }
        assert_eq!(advice(&comparison), advice(&golden("regressed")));
    }
}
