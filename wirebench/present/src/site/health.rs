//! Can I trust the system? How small a change it shows, how many false alarms it raised, and which rounds it left out and why.

use askama::Template;

use crate::report::format::{declared, grouped, plural, three_digits};
use crate::report::trend::{TOO_NOISY, open_regressions};
use crate::site::frame::{Frame, SitePage};
use crate::site::gather::{Drawn, Source};
use crate::site::trust::{left_out, reasons};
use wirebench_judge::summary::quality::{EqualCode, Tally, equal_code, steal_percent};
use wirebench_record::comparison::Comparison;
use wirebench_record::run::Run;
use wirebench_record::trend::Trend;
use wirebench_stats::quantile::median;

pub(super) const PAGE: SitePage = SitePage::new("health.html", "Health", |frame| {
    let (input, sources) = (frame.site.input, frame.site.sources);
    let runs: Vec<&Run> = input.runs.iter().map(|paged| &paged.run).collect();
    let comparisons: Vec<&Comparison> = input
        .runs
        .iter()
        .filter_map(|paged| paged.comparison.as_ref())
        .collect();
    render(frame, &runs, &comparisons, (&input.followed.trend, sources))
});

/// Files named that were left out.
const SKIPPED: usize = 50;
/// Lines of the table that are seen at once.
const OPEN: usize = 20;

#[derive(Template)]
#[template(path = "health.html")]
struct Page<'a> {
    frame: Frame<'a>,
    /// How small a step the history shows; none when no metric says so.
    visible: Option<String>,
    /// How many rounds are good, in one sentence.
    rounds: String,
    /// Whether the history has anything at all.
    measured: bool,
    trend: &'a Trend,
    /// Comparisons of equal code; `None` without any.
    equal: Option<EqualCode>,
    /// The false-alarm rate that the method promises; `None` without a comparison.
    promised: Option<String>,
    steal: Option<String>,
    reasons: Vec<(String, String)>,
    /// The metrics of which least can be seen, first; and the others.
    noisiest: Vec<&'a Drawn<'a>>,
    quieter: Vec<&'a Drawn<'a>>,
}

fn render(
    frame: Frame,
    runs: &[&Run],
    comparisons: &[&Comparison],
    (trend, sources): (&Trend, &[Source]),
) -> Result<String, askama::Error> {
    let tally = Tally::of(runs);
    let promised = comparisons.iter().map(|one| one.method.false_alarm_at_most_percent);
    let pushes: usize = sources.iter().map(|source| source.timeline.pushes).sum();
    let mut noisiest = lines(sources);
    let visible = visible(&noisiest);
    let quieter = noisiest.split_off(noisiest.len().min(OPEN));
    Page {
        frame,
        visible,
        rounds: rounds(&tally, runs.len(), pushes),
        measured: tally.rounds > 0 || pushes > 0,
        trend,
        equal: equal_code(runs, comparisons),
        promised: promised.reduce(f64::max).map(declared),
        steal: steal(runs),
        reasons: reasons(&tally, 20),
        noisiest,
        quieter,
    }
    .render()
}

/// Every metric whose newest segment says how small a step it shows, the largest first. Those that are no longer measured are
/// left out.
fn lines<'a>(sources: &'a [Source]) -> Vec<&'a Drawn<'a>> {
    let measured = sources
        .iter()
        .flat_map(Source::metrics)
        .filter(|drawn| !drawn.trace.stopped);
    let mut lines: Vec<(f64, &Drawn)> = measured
        .filter_map(|drawn| Some((drawn.resolvable()?, drawn)))
        .collect();
    lines.sort_by(|one, other| other.0.total_cmp(&one.0));
    lines.into_iter().map(|(_, drawn)| drawn).collect()
}

fn visible(lines: &[&Drawn]) -> Option<String> {
    let percents: Vec<f64> = lines.iter().filter_map(|drawn| drawn.resolvable()).collect();
    let middle = median(&percents)?;
    let noisy = percents.iter().filter(|percent| **percent > TOO_NOISY).count();
    let noisy = match noisy {
        0 => String::new(),
        noisy => format!("; {} too noisy to judge", grouped(noisy)),
    };
    Some(format!(
        "{} a step of {} % within five pushes{noisy}",
        match lines.len() {
            1 => "The metric shows".to_owned(),
            all => format!("Half of {} show", plural(all, "metric")),
        },
        three_digits(middle)
    ))
}

fn rounds(tally: &Tally, runs: usize, pushes: usize) -> String {
    if tally.rounds == 0 {
        return match pushes {
            0 => "No run yet.".into(),
            pushes => format!(
                "{} measured elsewhere: their rounds are not in this history, so only the noise of their values is judged.",
                plural(pushes, "run")
            ),
        };
    }
    let all = plural(tally.rounds, "round");
    let left = left_out(tally);
    let of = plural(runs, "run");
    if left.is_empty() {
        return format!("All {all} of {of} passed every check.");
    }
    let percent = 100.0 * (tally.rounds - tally.good) as f64 / tally.rounds as f64;
    format!(
        "{left}: {} % of {all} in {of} are in no comparison.",
        three_digits(percent)
    )
}

/// The CPU time that others took while the load ran: the middle run and the worst.
fn steal(runs: &[&Run]) -> Option<String> {
    let each: Vec<f64> = runs.iter().filter_map(|run| steal_percent(run)).collect();
    let worst = each.iter().copied().fold(0.0, f64::max);
    let middle = median(&each)?;
    Some(format!(
        "While the load ran, the hypervisor gave {} % of the CPU time to others in the middle run, {} % in the worst.",
        three_digits(middle),
        three_digits(worst)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::gather::gather;
    use crate::site::samples;
    use wirebench_history::follow::{FollowedHistory, SourceTimeline, TraceValues};
    use wirebench_record::comparison::Verdict;
    use wirebench_record::history::Facts;
    use wirebench_testing::golden;

    fn equal(verdict: Verdict) -> Comparison {
        let mut comparison = golden("unchanged");
        comparison.candidate.revision.commit = comparison.baseline.revision.commit.clone();
        comparison.candidate.revision.modified = Some(false);
        comparison.baseline.revision.modified = Some(false);
        comparison.verdict = verdict;
        comparison
    }

    fn frame() -> Frame<'static> {
        PAGE.frame(Box::leak(Box::new(samples::site())))
    }

    #[test]
    fn false_alarms_are_counted_among_comparisons_of_equal_code_only() {
        let (quiet, wrong, other) = (
            equal(Verdict::Unchanged),
            equal(Verdict::Regressed),
            golden("regressed"),
        );
        let page = |runs: &[&Run], comparisons: &[&Comparison]| {
            render(frame(), runs, comparisons, (&samples::trend(), &[])).unwrap()
        };
        let found = page(&[], &[&quiet, &quiet, &wrong, &other]);
        assert!(
            found.contains("<p>1 of 3 comparisons of equal code was called regressed"),
            "{found}"
        );
        let mut burnt = samples::reference();
        burnt.id = wrong.candidate.run.clone();
        burnt.series[4].injected_burn_ns = Some(500);
        let burnt = page(&[&burnt], &[&wrong]);
        assert!(!burnt.contains("of equal code was"), "time was burnt on purpose");
    }

    #[test]
    fn everything_that_limits_trust_is_on_the_page() {
        let mut run = samples::reference();
        samples::spoil(&mut run);
        let comparison = golden("mixed");
        let page = render(frame(), &[&run], &[&comparison], (&samples::trend(), &[])).unwrap();
        crate::site::well_formed::check(&page).unwrap();
        for said in [
            "The rate is not measured here yet",
            "wirebench selftest",
            "1 invalid, 1 failed, 1 dropped: 3.85 % of 78 rounds in 1 run are in no comparison.",
            "3 of 100,000 answers had status 503",
            "is cut off",
        ] {
            assert!(page.contains(said), "{said}");
        }
    }

    /// The page of a history of these metrics, each by series and smallest visible step.
    fn of_history(source: &str, steps: &[(&str, f64)]) -> String {
        let trace = samples::trend().traces.remove(0);
        let push = trace.segments[0].first.clone();
        let mut trend = samples::trend();
        trend.traces = (steps.iter())
            .map(|(series, percent)| {
                let mut trace = trace.clone();
                (trace.source, trace.series) = (source.into(), (*series).into());
                trace.segments[1].resolvable_percent = Some(*percent);
                trace
            })
            .collect();
        let values = || TraceValues {
            timeline: 0,
            values: vec![1.0; 40],
            ratios: Vec::new(),
            half_permille: Vec::new(),
            failures: Vec::new(),
        };
        let line = SourceTimeline {
            source: source.into(),
            repository: None,
            pushes: vec![push; 40],
            runs: Vec::new(),
            provisional: Vec::new(),
            failed: Vec::new(),
        };
        let followed = FollowedHistory {
            not_indexed: 0,
            facts: Facts::default(),
            timelines: vec![line],
            values: steps.iter().map(|_| values()).collect(),
            trend,
        };
        let sources = gather(&followed, &[]);
        let page = render(frame(), &[], &[], (&followed.trend, &sources)).unwrap();
        crate::site::well_formed::check(&page).unwrap();
        page
    }

    #[test]
    fn the_metric_of_which_least_is_seen_stands_first() {
        let page = of_history(
            "runs",
            &[
                ("quiet@http@hey", 1.25),
                ("noisy@http@hey", 7.5),
                ("wild@http@hey", 300.0),
            ],
        );
        let places = ["wild <", "noisy <", "quiet <"].map(|name| page.find(name).unwrap());
        assert!(places.is_sorted(), "{page}");
        assert!(
            page.contains("Half of 3 metrics show a step of 7.50 % within five pushes; 1 too noisy to judge"),
            "{page}"
        );
        assert!(!page.contains("99.0 %"), "only the newest segment counts");
    }

    #[test]
    fn an_import_has_runs_but_no_rounds() {
        let page = of_history("imported/data: s", &[("parse", 2.0)]);
        assert!(
            page.contains("40 runs measured elsewhere") && !page.contains("No run yet"),
            "{page}"
        );
        assert!(page.contains("parse"), "{page}");
    }

    #[test]
    fn nothing_measured_is_said_and_hostile_text_stays_text() {
        let mut trend = samples::trend();
        (trend.traces, trend.skipped) = Default::default();
        let none = render(frame(), &[], &[], (&trend, &[])).unwrap();
        crate::site::well_formed::check(&none).unwrap();
        assert!(none.contains("No run yet") && none.contains("The rate is not measured here yet"));
        let (mut run, mut comparison, mut trend) = (samples::reference(), golden("mixed"), samples::trend());
        samples::poison(&mut run);
        comparison.host.cpu_model = Some(samples::NASTY.into());
        comparison
            .series
            .iter_mut()
            .for_each(|series| series.id = samples::NASTY.into());
        trend
            .traces
            .iter_mut()
            .for_each(|trace| trace.series = samples::NASTY.into());
        trend.skipped = vec![samples::NASTY.into()];
        samples::assert_inert(&render(frame(), &[&run], &[&comparison], (&trend, &[])).unwrap());
    }
}
