//! The verdict on a run whose variants were measured interleaved.

use crate::compare::cell::{Cell, Figures, pairs};
use crate::compare::screen::{Suspicion, suspicion};
use crate::compare::{ALPHA_GATING, ALPHA_INFORMATIVE, FEWEST_PAIRS, INCONCLUSIVE_ABOVE_PERCENT, Rules};
use crate::record::comparison::{ComparedMetric, ComparedSeries, Comparison, Method, Presence, SCHEMA, Side, Verdict};
use crate::record::metric::{Better, Metric};
use crate::record::run::{Bound, Round, RoundStatus, Run, RunStatus, Series, Variant};
use crate::stats::holm;
use crate::stats::location::{POWER, resolvable};

/// A cell with what is needed to judge it.
struct Judged {
    series: usize,
    cell: Cell,
    figures: Figures,
    stage: u32,
    /// Why the first stage asks for fresh rounds.
    suspected: Option<Suspicion>,
    /// Whether there were fresh rounds, and enough of them usable.
    tested: bool,
    worse: bool,
    better: bool,
}

/// Compares the baseline of a run with its candidate.
///
/// # Errors
/// When the run has no baseline; in words.
pub fn paired(run: &Run, rules: &Rules) -> Result<Comparison, String> {
    let revision = |variant| {
        run.variants
            .iter()
            .find(|revision| revision.variant == variant)
            .cloned()
    };
    let side = |variant: Variant| {
        let revision = revision(variant).ok_or_else(|| {
            format!(
                "run {} has no {}: it measured one revision alone; measure both with: wirebench run --baseline REV",
                run.id,
                variant.name()
            )
        })?;
        Ok::<_, String>(Side {
            run: run.id.clone(),
            revision,
        })
    };
    let (baseline, candidate) = (side(Variant::Baseline)?, side(Variant::Candidate)?);
    let mut judged = cells(run, rules);
    let tests = test(&mut judged);
    let series: Vec<ComparedSeries> = (run.series.iter().enumerate())
        .map(|(i, series)| {
            let mine = judged.iter().filter(|judged| judged.series == i);
            compared(
                run,
                series,
                mine.map(|judged| metric(judged, tests, run, series)).collect(),
            )
        })
        .collect();
    Ok(Comparison {
        schema: SCHEMA.into(),
        verdict: overall(series.iter().filter_map(|series| series.verdict)),
        baseline,
        candidate,
        paired: true,
        notes: notes(run),
        method: method(run.seed, rules, tests),
        host: run.host.clone(),
        tools: run.tools.clone(),
        repeat: run.repeat.clone(),
        series,
    })
}

pub(super) fn method(seed: u64, rules: &Rules, tests: (usize, usize)) -> Method {
    let count = |tests| u32::try_from(tests).unwrap_or(u32::MAX);
    Method {
        seed,
        false_alarm_at_most_percent: ALPHA_GATING * 100.0,
        detect_percent: rules.compare.detect.percent(),
        inconclusive_above_percent: INCONCLUSIVE_ABOVE_PERCENT,
        tests: (count(tests.0), count(tests.1)),
    }
}

/// The first that occurs of regressed, invalid, inconclusive, improved; unchanged when nothing does.
pub(super) fn overall(verdicts: impl Iterator<Item = Verdict>) -> Verdict {
    verdicts.min().unwrap_or(Verdict::Unchanged)
}

/// Every cell of every series that both variants have; from the second stage where there is one.
fn cells(run: &Run, rules: &Rules) -> Vec<Judged> {
    let mut judged = Vec::new();
    for (i, series) in run.series.iter().enumerate() {
        if series.missing_in.is_some() {
            continue;
        }
        let stage = if pairs(series, 2).next().is_some() { 2 } else { 1 };
        for cell in Cell::all(series, stage, rules) {
            let suspected = Cell::new(series, cell.metric, 1, rules).and_then(|first| suspicion(&first, rules));
            let figures = cell.figures();
            judged.push(Judged {
                series: i,
                tested: stage == 2 && suspected.is_some() && figures.kept.pairs.len() >= FEWEST_PAIRS,
                suspected,
                figures,
                cell,
                stage,
                worse: false,
                better: false,
            });
        }
    }
    judged
}

/// Tests what the first stage sent on, gating and informative metrics as two families, each direction by Holm's rule.
fn test(judged: &mut [Judged]) -> (usize, usize) {
    let mut counts = [0, 0];
    for (family, gate, alpha) in [(0, true, ALPHA_GATING), (1, false, ALPHA_INFORMATIVE)] {
        let mine: Vec<usize> = (0..judged.len())
            .filter(|i| judged[*i].tested && judged[*i].cell.margin.gate == gate)
            .collect();
        let probabilities = |p: fn(&Cell) -> f64| -> Vec<f64> { mine.iter().map(|i| p(&judged[*i].cell)).collect() };
        let worse = holm::passing(&probabilities(Cell::p_worse), alpha);
        let better = holm::passing(&probabilities(Cell::p_better), alpha);
        for ((i, worse), better) in mine.iter().zip(worse).zip(better) {
            (judged[*i].worse, judged[*i].better) = (worse, better);
        }
        counts[family] = mine.len();
    }
    (counts[0], counts[1])
}

fn compared(run: &Run, series: &Series, metrics: Vec<ComparedMetric>) -> ComparedSeries {
    let presence = match series.missing_in {
        None | Some(Variant::Reference) => Presence::Both,
        Some(Variant::Baseline) => Presence::Added,
        Some(Variant::Candidate) => Presence::Removed,
    };
    let broken = [Variant::Baseline, Variant::Candidate]
        .into_iter()
        .filter(|_| presence == Presence::Both)
        .find_map(|variant| broken(series, variant));
    let gating = || {
        metrics
            .iter()
            .filter(|metric| metric.primary && metric.accepted.is_none())
    };
    let verdict = if broken.is_some() {
        Some(Verdict::Invalid)
    } else {
        gating().map(|metric| metric.verdict).min()
    };
    let reason = broken.or_else(|| {
        let digest = series.baseline_digest.as_ref().map(|_| {
            "the baseline declares this series differently (server.toml, scenario or driver): part of the difference may be the question's"
        });
        digest.or_else(|| client_bound(series)).map(str::to_owned)
    });
    let unmeasured = presence != Presence::Both || (verdict.is_none() && metrics.is_empty());
    ComparedSeries {
        id: series.id.clone(),
        scenario: series.scenario.clone(),
        presence,
        verdict: verdict.filter(|_| presence == Presence::Both),
        reason: reason.or_else(|| {
            (unmeasured && presence == Presence::Both).then(|| match run.status {
                RunStatus::Incomplete => "not measured: the run was interrupted".to_owned(),
                _ => "no pair of good rounds".to_owned(),
            })
        }),
        metrics,
    }
}

/// Why a variant has no good round of a series.
fn broken(series: &Series, variant: Variant) -> Option<String> {
    let rounds = || series.rounds.iter().filter(|round| round.variant == variant);
    let good = |round: &Round| round.status == RoundStatus::Ok;
    if rounds().any(good) || rounds().next().is_none() {
        return None;
    }
    let why = rounds().find_map(|round| round.reason.clone()).unwrap_or_default();
    Some(format!("no good round of the {}: {why}", variant.name()))
}

fn client_bound(series: &Series) -> Option<&'static str> {
    let good = || series.rounds.iter().filter(|round| round.status == RoundStatus::Ok);
    let bound = good().filter(|round| round.bound == Some(Bound::Client)).count();
    (bound * 2 > good().count()).then_some("client-bound: its throughput and latency are the load generator's")
}

fn notes(run: &Run) -> Vec<String> {
    let mut notes = Vec::new();
    if run.status == RunStatus::Incomplete {
        let why = run.reason.as_deref().unwrap_or("incomplete");
        notes.push(format!(
            "The run did not reach its end ({why}): fewer pairs than planned."
        ));
    }
    for variant in &run.variants {
        if variant.modified == Some(true) {
            notes.push(format!(
                "The {}'s files were modified beyond its commit.",
                variant.variant.name()
            ));
        }
    }
    if run.pinning.server_cores.is_empty() {
        notes.push("Server and load generator shared all cores.".into());
    }
    notes
}

/// A difference of logarithms of badness as the relative change of the metric's own value, percent.
pub(super) fn percent(metric: Metric, log: f64) -> f64 {
    match metric.better() {
        Better::Lower => log.exp_m1() * 100.0,
        Better::Higher => (-log).exp_m1() * 100.0,
    }
}

/// The same as a size of worsening, never below 0.
fn worsening(metric: Metric, log: f64) -> f64 {
    percent(metric, log.max(0.0)).abs()
}

fn metric(judged: &Judged, tests: (usize, usize), run: &Run, series: &Series) -> ComparedMetric {
    let (cell, figures) = (&judged.cell, &judged.figures);
    let what = cell.metric;
    let gate = cell.margin.gate;
    let kept = figures.kept.pairs.len();
    let location = figures.location;
    let effect = location.map(|location| percent(what, location.estimate));
    let ends = location
        .and_then(|location| location.low.zip(location.high))
        .map(|(low, high)| {
            let (a, b) = (percent(what, low), percent(what, high));
            (a.min(b), a.max(b))
        });
    let at_most = (location.and_then(|location| location.at_most)).map(|bound| worsening(what, bound));
    let (alpha, family) = if gate {
        (ALPHA_GATING, tests.0)
    } else {
        (ALPHA_INFORMATIVE, tests.1)
    };
    let smallest = (figures.sd.filter(|_| kept >= FEWEST_PAIRS))
        .map(|sd| worsening(what, resolvable(cell.log_margin(), sd, kept, alpha, family, POWER)));
    let (verdict, reason) = verdict(judged, effect, ends, at_most);
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let worse_by = location.map_or(0.0, |location| worsening(what, location.estimate));
    ComparedMetric {
        metric: what,
        unit: what.unit().into(),
        better: what.better(),
        primary: gate,
        verdict,
        reason,
        accepted: (run.accepted.iter())
            .filter(|_| verdict == Verdict::Regressed)
            .filter_map(|entry| entry.clone().compile().ok())
            .find(|accepted| accepted.covers(&series.id, Some(what), worse_by))
            .map(|accepted| accepted.entry.reason),
        baseline: figures.baseline,
        candidate: figures.candidate,
        effect_percent: effect,
        effect_low_percent: ends.map(|(low, _)| low),
        effect_high_percent: ends.map(|(_, high)| high),
        worse_at_most_percent: at_most,
        margin_percent: cell.margin.margin.percent(),
        resolvable_percent: smallest,
        spread_percent: figures.sd.map(|sd| sd / std::f64::consts::SQRT_2 * 100.0),
        p_worse: judged.tested.then(|| cell.p_worse()),
        p_better: judged.tested.then(|| cell.p_better()),
        stage: judged.stage,
        pairs: count(cell.pairs()),
        kept: count(kept),
        dropped_baseline: count(figures.kept.far_first),
        dropped_candidate: count(figures.kept.far_second),
    }
}

/// Whether the whole interval lies beyond the margin: not a verdict, as it is one of many, but nothing to call unchanged.
fn looks_worse(judged: &Judged) -> bool {
    let low = judged.figures.location.and_then(|location| location.low);
    low.is_some_and(|low| low > judged.cell.log_margin())
}

fn verdict(judged: &Judged, effect: Option<f64>, ends: Option<(f64, f64)>, at_most: Option<f64>) -> (Verdict, String) {
    let margin = judged.cell.margin.margin;
    let kept = judged.figures.kept.pairs.len();
    let said = || {
        let (low, high) = ends.unwrap_or_default();
        format!("{:+.1} % ({low:+.1} to {high:+.1} %)", effect.unwrap_or_default())
    };
    match at_most {
        _ if kept < FEWEST_PAIRS => (
            Verdict::Inconclusive,
            format!("only {kept} usable pairs of rounds; {FEWEST_PAIRS} are needed"),
        ),
        _ if judged.worse => (
            Verdict::Regressed,
            format!("{}: worse beyond the margin of {margin}", said()),
        ),
        _ if judged.better => (
            Verdict::Improved,
            format!("{}: better beyond the margin of {margin}", said()),
        ),
        _ if judged.stage == 1 && judged.suspected == Some(Suspicion::Changed) && looks_worse(judged) => (
            Verdict::Inconclusive,
            format!(
                "{}: looks worse, and no fresh rounds were measured to confirm it",
                said()
            ),
        ),
        _ if looks_worse(judged) => (
            Verdict::Inconclusive,
            format!("{}: looks worse, but not beyond doubt over all that was tested", said()),
        ),
        Some(bound) if bound <= INCONCLUSIVE_ABOVE_PERCENT => {
            (Verdict::Unchanged, format!("no worsening above {bound:.1} %"))
        }
        _ => (
            Verdict::Inconclusive,
            format!(
                "{}: a worsening of {INCONCLUSIVE_ABOVE_PERCENT} % can be neither shown nor excluded",
                said()
            ),
        ),
    }
}
