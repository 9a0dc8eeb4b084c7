//! Can I trust the system? How many false alarms it raised, how noisy its machines are, which rounds it left out and why, and
//! how small a change it could have detected.

mod heat;
mod noise;
mod sizes;

use askama::Template;

use self::heat::Heat;
use self::noise::Noise;
use self::sizes::Sizes;
use crate::report::format::{plural, three_digits};
use crate::report::percent::declared;
use crate::report::trend::open_regressions;
use crate::site::frame::Frame;
use crate::site::gather::Source;
use crate::site::page::SitePage;
use crate::site::shown::sentence;
use crate::site::trust::{left_out, reasons};
use wirebench_judge::summary::equal_code::equal_code;
use wirebench_judge::summary::quality::{Tally, steal_percent};
use wirebench_record::comparison::Comparison;
use wirebench_record::run::Run;
use wirebench_record::trend::Trend;
use wirebench_stats::quantile::median;

pub(super) const PAGE: SitePage = SitePage::new("health.html", "Health", |frame, context| {
    let input = context.input;
    let runs: Vec<&Run> = input.runs.iter().map(|paged| &paged.run).collect();
    let comparisons: Vec<&Comparison> = input.comparisons().collect();
    render(frame, &runs, &comparisons, (&input.followed.trend, context.sources))
});

/// Files named that were left out.
const SKIPPED: usize = 50;

#[derive(Template)]
#[template(path = "health.html")]
struct Page {
    frame: Frame,
    alarms: Alarms,
    noise: Option<Noise>,
    /// How many rounds are good, in one sentence; none without any.
    rounds: Option<String>,
    steal: Option<String>,
    reasons: Vec<(String, String)>,
    /// The smallest changes that a comparison could have detected, and those that the history would.
    compared: Vec<Sizes>,
    followed: Vec<Sizes>,
    /// Noise by series and week.
    heat: Option<Heat>,
    /// How long runs took.
    minutes: Option<String>,
    skipped: Vec<String>,
    skipped_more: usize,
}

/// Comparisons of equal code.
#[derive(Debug, PartialEq, Eq)]
struct Alarms {
    /// How many were called regressed; `None` without such comparisons.
    sentence: Option<String>,
    /// The false-alarm rate that the method promises.
    promised: Option<String>,
    /// How many alerts the history raised, and what became of them; `None` without any.
    history: Option<String>,
}

fn render(
    frame: Frame,
    runs: &[&Run],
    comparisons: &[&Comparison],
    (trend, sources): (&Trend, &[Source]),
) -> Result<String, askama::Error> {
    let tally = Tally::of(runs);
    Page {
        frame,
        alarms: alarms(runs, comparisons, trend),
        noise: Noise::of(comparisons),
        rounds: (tally.rounds > 0).then(|| rounds(&tally, runs.len())),
        steal: steal(runs),
        reasons: reasons(&tally, 20),
        compared: Sizes::compared(comparisons),
        followed: Sizes::followed(trend),
        heat: Heat::of(sources),
        minutes: minutes(runs),
        skipped: trend.skipped.iter().take(SKIPPED).map(|line| sentence(line)).collect(),
        skipped_more: trend.skipped.len().saturating_sub(SKIPPED),
    }
    .render()
}

fn rounds(tally: &Tally, runs: usize) -> String {
    let all = plural(tally.rounds, "round");
    let left = left_out(tally);
    let of = plural(runs, "run");
    if left.is_empty() {
        return format!("All {all} of {of} passed every check.");
    }
    #[expect(clippy::cast_precision_loss, reason = "rounds stay far below 2^53")]
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

/// How long the runs took, from their start to their end, in minutes: the middle one, and the whole.
#[expect(clippy::cast_precision_loss, reason = "minutes stay far below 2^53")]
fn minutes(runs: &[&Run]) -> Option<String> {
    let took = |run: &&Run| {
        let at = |text: &str| text.parse::<jiff::Timestamp>().ok();
        let seconds = at(&run.finished_at)?.as_second() - at(&run.started_at)?.as_second();
        (seconds > 0).then_some(seconds as f64 / 60.0)
    };
    let each: Vec<f64> = runs.iter().filter_map(took).collect();
    let middle = median(&each)?;
    Some(format!(
        "{} took {} minutes in all, the middle one {}.",
        plural(each.len(), "run"),
        three_digits(each.iter().sum()),
        three_digits(middle)
    ))
}

fn alarms(runs: &[&Run], comparisons: &[&Comparison], trend: &Trend) -> Alarms {
    let limits = comparisons
        .iter()
        .map(|comparison| comparison.method.false_alarm_at_most_percent);
    let limit = limits.fold(0.0, f64::max);
    Alarms {
        sentence: equal_code(runs, comparisons).map(|equal| {
            format!(
                "{} of {} of equal code {} called regressed: with 95 % confidence the rate is at most {} %.",
                equal.regressed,
                plural(equal.comparisons, "comparison"),
                if equal.regressed == 1 { "was" } else { "were" },
                three_digits(equal.share_at_most * 100.0)
            )
        }),
        promised: (!comparisons.is_empty()).then(|| {
            format!(
                "By construction a comparison of equal code is called regressed in at most {} of cases.",
                declared(limit)
            )
        }),
        history: (trend.alerts > 0).then(|| {
            format!(
                "The history raised {}: {}, the others were taken back.",
                plural(trend.alerts, "alert"),
                open_regressions(trend.open)
            )
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::samples;
    use wirebench_record::comparison::Verdict;
    use wirebench_testing::golden;

    fn equal(verdict: Verdict) -> Comparison {
        let mut comparison = golden("unchanged");
        comparison.candidate.revision.commit = comparison.baseline.revision.commit.clone();
        comparison.candidate.revision.modified = Some(false);
        comparison.baseline.revision.modified = Some(false);
        comparison.verdict = verdict;
        comparison
    }

    fn frame() -> Frame {
        PAGE.frame(&samples::site())
    }

    #[test]
    fn false_alarms_are_counted_among_comparisons_of_equal_code_only() {
        let (quiet, wrong, other) = (
            equal(Verdict::Unchanged),
            equal(Verdict::Regressed),
            golden("regressed"),
        );
        let found = alarms(&[], &[&quiet, &quiet, &wrong, &other], &samples::trend());
        let found = found.sentence.unwrap();
        assert!(
            found.starts_with("1 of 3 comparisons of equal code was called regressed"),
            "{found}"
        );
        let mut burnt = samples::reference();
        burnt.id = wrong.candidate.run.clone();
        burnt.series[4].injected_burn_ns = Some(500);
        let burnt = alarms(&[&burnt], &[&wrong], &samples::trend());
        assert_eq!(burnt.sentence, None, "time was burnt on purpose");
    }

    #[test]
    fn everything_that_limits_trust_is_on_the_page() {
        let mut run = samples::reference();
        samples::spoil(&mut run);
        let comparison = golden("mixed");
        let page = render(frame(), &[&run], &[&comparison], (&samples::trend(), &[])).unwrap();
        crate::site::well_formed::check(&page).unwrap();
        for said in [
            "No comparison of equal code yet",
            "wirebench selftest",
            "1 invalid, 1 failed, 1 dropped: 3.85 % of 78 rounds in 1 run are in no comparison.",
            "3 of 100,000 answers had status 503",
            "2 × AMD EPYC 7763",
            "7.5 %",
            "is cut off",
        ] {
            assert!(page.contains(said), "{said}");
        }
        let (noisy, quiet) = (
            page.find("noisy@http@hey").unwrap(),
            page.find("quiet@http@hey").unwrap(),
        );
        assert!(noisy < quiet, "the series of which least can be seen stands first");
        assert!(!page.contains("99.0 %"), "only the newest segment counts");
    }

    #[test]
    fn nothing_measured_is_said_and_hostile_text_stays_text() {
        let mut trend = samples::trend();
        (trend.traces, trend.skipped) = Default::default();
        let none = render(frame(), &[], &[], (&trend, &[])).unwrap();
        crate::site::well_formed::check(&none).unwrap();
        assert!(none.contains("No run yet") && none.contains("No comparison of equal code yet"));
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
