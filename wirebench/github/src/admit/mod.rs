//! Admits a comparison from an artifact: names must fit their grammar, numbers must be in plausible ranges, verdicts
//! must be consistent, and no foreign text is kept.
//!
//! Forged numbers cannot be told from true ones; it can only be checked that they are possible, and of this pull request.

mod metric;
mod reasons;
#[cfg(test)]
mod tests;

use serde::Deserialize as _;
use serde_json::Value;

use crate::names::{self, log_safe};
use crate::{Refusal, function_name, refuse};
use wirebench_record::comparison::{
    ComparedSeries, Comparison, FunctionChange, FunctionWorkChange, LARGEST_MARGIN_PERCENT, Method, Presence, SCHEMA,
    SCHEMA_V1, Side, Verdict, WorkChange,
};
use wirebench_record::limit::JudgedLimit;
use wirebench_record::metric::Metric;
use wirebench_record::reason::Note;
use wirebench_record::run::{Host, ToolVersion, Variant, VariantRevision, short_commit};

/// Series of one comparison, at most.
pub const SERIES: usize = 500;
/// Limits of one comparison, at most.
const LIMITS: usize = 1000;
/// Functions of one series, at most.
const FUNCTIONS: usize = 60;
/// Words of the command that repeats a run, at most.
const REPEATED: usize = 40;
/// Programs, and notes, at most.
const FEW: usize = 64;

/// The commits of a comparison, from the API.
#[derive(Debug, Clone, Copy)]
pub struct ComparedCommits<'a> {
    /// The commit at the pull request's head, 40 hex digits.
    pub head: &'a str,
    /// The commit at the tip of its base branch, 40 hex digits; it may have been measured against an older commit, or another
    /// branch's.
    pub base: &'a str,
}

/// Admits a value that [`crate::strict::parse`] read.
///
/// # Errors
/// At the first value that this program would not have written; the error names its place in the JSON, and does not repeat the value.
/// Fields, informative metrics, reasons and notes that only a newer version knows are left out.
pub fn admit(mut value: Value, of: &ComparedCommits) -> Result<Comparison, Refusal> {
    let schema = value.get("schema").and_then(Value::as_str);
    if schema.is_some_and(is_newer) {
        refuse!(
            "the artifact's file is of a newer version than {SCHEMA}, the newest that this wirebench reads: name a newer release \
             as version: in the workflow that comments"
        );
    }
    if schema != Some(SCHEMA) && schema != Some(SCHEMA_V1) {
        refuse!("the artifact's file is no {SCHEMA}");
    }
    drop_unknown_metrics(&mut value);
    let comparison: Comparison = serde_path_to_error::deserialize(value).map_err(|error| {
        let place = log_safe(&error.path().to_string());
        Refusal::new(format!(
            "the artifact's file is no {SCHEMA}: {place} is not as the schema says"
        ))
    })?;
    checked(comparison, of)
}

/// Whether a schema's name is that of a later version of a comparison.
fn is_newer(schema: &str) -> bool {
    let number = |name: &str| {
        let digits = name.strip_prefix("wirebench.comparison/v")?;
        digits.parse::<u16>().ok()
    };
    number(schema) > number(SCHEMA)
}

/// Drops metrics that a newer version added, if they do not gate: what gates must be understood.
fn drop_unknown_metrics(comparison: &mut Value) {
    let series = comparison.get_mut("series").and_then(Value::as_array_mut);
    let metrics = series.into_iter().flatten().filter_map(|one| one.get_mut("metrics"));
    for metrics in metrics.filter_map(Value::as_array_mut) {
        metrics.retain(|metric| metric["primary"] != false || Metric::deserialize(&metric["metric"]).is_ok());
    }
}

/// Admits a comparison whose schema [`admit`] has checked.
///
/// # Errors
/// As [`admit`].
pub fn checked(given: Comparison, of: &ComparedCommits) -> Result<Comparison, Refusal> {
    let run = given.candidate.run;
    if !given.paired || given.baseline.run != run || !names::is_run(&run) {
        refuse!("paired, baseline.run, candidate.run: both sides must be of one run with a valid id");
    }
    if given.series.len() > SERIES || given.tools.len() > FEW || given.notes.len() > FEW {
        refuse!("series, tools, notes: at most {SERIES} series, {FEW} tools and {FEW} notes are admitted");
    }
    let method = method(given.method)?;
    let series = every_series(given.series, method.inconclusive_above_percent)?;
    // Unchanged is also what a comparison says that measured nothing: in version 1, and where both sides run one program.
    let worst = Verdict::over(&series);
    if given.verdict != worst && (given.verdict, worst) != (Verdict::Unchanged, Verdict::NotJudged) {
        refuse!("verdict: is not that of the most alarming series");
    }
    let measured = measured_base(&given.baseline)?;
    let notes = another_base(&measured, of.base).into_iter();
    Ok(Comparison {
        schema: SCHEMA.into(),
        verdict: worst,
        baseline: side(Variant::Baseline, &measured, run.clone()),
        candidate: side(Variant::Candidate, of.head, run),
        paired: true,
        notes: notes.chain(reasons::notes(given.notes)).collect(),
        method,
        host: host(given.host)?,
        tools: given.tools.into_iter().filter(is_tool).collect(),
        repeat: repeated(&given.repeat, &measured, of.head),
        limits: every_limit(given.limits, &series)?,
        series,
    })
}

/// The command that repeats the measurement of these commits, with those flags of the run's own command whose values fit their grammar.
fn repeated(given: &str, measured: &str, head: &str) -> String {
    let mut words = vec!["wirebench", "run", "--baseline", measured, "--candidate", head];
    let given: Vec<&str> = given.split(' ').collect();
    for [flag, value] in given.array_windows() {
        let is_known = match *flag {
            "--profile" | "--scenario" | "--server" | "--driver" => wirebench_record::names::is_declarable(value),
            "--rounds" | "--seed" => value.parse::<u64>().is_ok(),
            "--budget" => is_duration(value),
            _ => false,
        };
        if is_known && words.len() < REPEATED {
            words.extend([flag, value]);
        }
    }
    words.join(" ")
}

/// `90s`, `6m`: a number of at most four digits and a unit.
fn is_duration(text: &str) -> bool {
    let digits = text.strip_suffix(['s', 'm', 'h']).unwrap_or_default();
    (1..=4).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Limits of series of this comparison, each with possible numbers and the verdict that follows from them.
fn every_limit(given: Vec<JudgedLimit>, series: &[ComparedSeries]) -> Result<Vec<JudgedLimit>, Refusal> {
    if given.len() > LIMITS {
        refuse!("limits: at most {LIMITS} are admitted");
    }
    for (place, one) in given.iter().enumerate() {
        let mut numbers = [Some(one.limit.bound), one.value, one.low, one.high]
            .into_iter()
            .flatten();
        let possible = numbers.all(|number| (0.0..=1e18).contains(&number));
        if !possible || !series.iter().any(|known| known.id == one.series) {
            refuse!("limits[{place}]: belongs to no series of the comparison, or has impossible numbers");
        }
        if one.verdict != one.limit.verdict(one.low.zip(one.high)) {
            refuse!("limits[{place}].verdict: does not follow from its interval");
        }
    }
    Ok(given)
}

/// The commit that it says it was measured against: the only one that its numbers can be about, and as much its own word as
/// they are.
fn measured_base(baseline: &Side) -> Result<String, Refusal> {
    let commit = baseline.revision.commit.clone();
    commit.filter(|commit| names::is_commit(commit)).ok_or_else(|| {
        Refusal::new("baseline.revision.commit: is no commit, so nobody can say what this was measured against")
    })
}

/// Names both commits if the pull request's base has changed.
fn another_base(measured: &str, now: &str) -> Option<Note> {
    let (one, other) = (short_commit(measured), short_commit(now));
    (measured != now).then(|| Note::OtherBase {
        measured: one.to_owned(),
        now: other.to_owned(),
    })
}

fn side(variant: Variant, commit: &str, run: String) -> Side {
    let revision = VariantRevision {
        variant,
        commit: Some(commit.to_owned()),
        ..VariantRevision::default()
    };
    Side { run, revision }
}

fn method(method: Method) -> Result<Method, Refusal> {
    let (alarm, open) = (method.false_alarm_at_most_percent, method.inconclusive_above_percent);
    for (name, value, most) in [
        ("false_alarm_at_most_percent", alarm, LARGEST_MARGIN_PERCENT),
        ("detect_percent", method.detect_percent, 1000.0),
        ("inconclusive_above_percent", open, LARGEST_MARGIN_PERCENT),
    ] {
        if !(0.0..=most).contains(&value) {
            refuse!("method.{name}: no possible percentage");
        }
    }
    if method.tests.0 > 100_000 || method.tests.1 > 100_000 {
        refuse!("method.tests: more tests than metrics");
    }
    Ok(Method {
        seed: method.seed,
        false_alarm_at_most_percent: alarm,
        detect_percent: method.detect_percent,
        inconclusive_above_percent: open,
        tests: method.tests,
        gates: method.gates.map(|_| reasons::GATES.to_owned()),
        no_second_stage: method.no_second_stage.map(reasons::no_second_stage),
    })
}

fn host(host: Host) -> Result<Host, Refusal> {
    if !names::is_fingerprint(&host.fingerprint) {
        refuse!("host.fingerprint: is not twelve hex digits");
    }
    if !(1..=65_536).contains(&host.cpu_count) || host.memory_bytes.is_some_and(|bytes| bytes > 1 << 50) {
        refuse!("host.cpu_count, host.memory_bytes: impossible numbers");
    }
    let plain = |text: &String| names::is_machine(text);
    Ok(Host {
        cpu_model: host.cpu_model.filter(plain),
        kernel: (Some(host.kernel).filter(plain)).unwrap_or_else(|| "unknown kernel".into()),
        image: host.image.filter(plain),
        ..host
    })
}

fn is_tool(tool: &ToolVersion) -> bool {
    names::is_tool(&tool.name) && names::is_version(&tool.version)
}

fn every_series(given: Vec<ComparedSeries>, open_percent: f64) -> Result<Vec<ComparedSeries>, Refusal> {
    let mut all: Vec<ComparedSeries> = Vec::new();
    for (place, series) in given.into_iter().enumerate() {
        let place = format!("series[{place}]");
        if all.iter().any(|known| known.id == series.id) {
            refuse!("{place}.id: is there twice");
        }
        all.push(one_series(series, open_percent, &place)?);
    }
    Ok(all)
}

fn one_series(series: ComparedSeries, open_percent: f64, place: &str) -> Result<ComparedSeries, Refusal> {
    let (id, scenario, presence) = (series.id, series.scenario, series.presence);
    let (verdict, same_program) = (series.verdict, series.same_program);
    if !names::is_series(&id) || id.split('@').next() != Some(scenario.as_str()) {
        refuse!("{place}.id, scenario: is not scenario@server@driver");
    }
    if series.functions.len() > FUNCTIONS {
        refuse!("{place}.functions: at most {FUNCTIONS} are admitted");
    }
    let metrics = metric::all(series.metrics, open_percent, place)?;
    let worst = Verdict::over_gating(&metrics);
    let agrees = match presence {
        Presence::Both => {
            verdict == worst
                || (same_program && metrics.is_empty() && verdict == Some(Verdict::Unchanged))
                || (verdict == Some(Verdict::Invalid) && worst.is_none_or(|worst| worst >= Verdict::Invalid))
        }
        Presence::Added | Presence::Removed => verdict.is_none() && metrics.is_empty(),
    };
    if same_program && !metrics.is_empty() {
        refuse!("{place}.same_program: a series of one program has no metrics");
    }
    if !agrees {
        refuse!("{place}.verdict: is not that of the most alarming metric that gates");
    }
    let functions = series.functions.into_iter().enumerate();
    let functions = functions.map(|(i, change)| function(change, &format!("{place}.functions[{i}]")));
    let whole = presence == Presence::Both && !metrics.is_empty() && verdict != Some(Verdict::Invalid);
    Ok(ComparedSeries {
        id,
        scenario,
        presence,
        // Nothing was measured, and that both programs are equal is the run's own word: it passes no check.
        verdict: verdict.filter(|_| !same_program),
        reason: series.reason.and_then(|reason| reasons::series(reason, whole)),
        same_program,
        functions: functions.collect::<Result<_, _>>()?,
        work: series.work.map(|change| work(change, place)).transpose()?,
        metrics,
    })
}

fn work(change: WorkChange, place: &str) -> Result<WorkChange, Refusal> {
    let is_word =
        !change.unit.is_empty() && change.unit.len() <= 20 && change.unit.bytes().all(|b| b.is_ascii_lowercase());
    let is_count = |count: f64| (0.0..=1e15).contains(&count);
    let are_counts = |one: &FunctionWorkChange| is_count(one.baseline) && is_count(one.candidate);
    if !is_word || change.functions.len() > FUNCTIONS || !change.functions.iter().all(are_counts) {
        refuse!("{place}.work: an impossible unit, number of functions or count");
    }
    let functions = change.functions.into_iter().map(|one| FunctionWorkChange {
        function: function_name::function(&one.function),
        source: one.source.and_then(names::source),
        ..one
    });
    Ok(WorkChange {
        functions: functions.collect(),
        ..change
    })
}

fn function(change: FunctionChange, place: &str) -> Result<FunctionChange, Refusal> {
    let is_sampled = change.metric == Metric::ServerCpu || change.metric.is_of_waiting();
    if !change.metric.is_counted_by_name() && !is_sampled {
        refuse!("{place}.metric: is not known by function");
    }
    let costs = [change.baseline, change.candidate];
    if !costs.iter().all(|cost| (0.0..=1e15).contains(cost)) || change.share_percent.abs() > 1e9 {
        refuse!("{place}: an impossible cost");
    }
    let name = if change.metric == Metric::Syscalls {
        names::syscall
    } else {
        function_name::function
    };
    let is_syscall = change.metric == Metric::Syscalls;
    if (change.own_code && is_syscall) || (change.caller.is_some() && !is_syscall) {
        refuse!("{place}: only system calls have a caller");
    }
    Ok(FunctionChange {
        function: name(&change.function),
        caller: change.caller.as_deref().map(function_name::function),
        source: change.source.and_then(names::source),
        ..change
    })
}
