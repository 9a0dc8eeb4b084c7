//! Computes the cost of a request from whole server runs: the slope between short and long runs, and the spread over
//! repetitions.

use wirebench_record::counts::{Figure, Point};
use wirebench_record::metric::{DefaultGate, Metric, Source};

/// A change of a request's cost during a run gets a remark from this share on.
const REMARKED_CHANGE: f64 = 0.02;

/// The fewest additional events of a longer run that are attributed to its requests.
const FEWEST_EVENTS: f64 = 2.0;

/// The largest part of a cost that is attributed to other causes than requests, for metrics that gate with a margin.
const UNRELATED_SHARE: f64 = 0.001;

/// By how many standard errors of a slope the spread reaches from it, by the degrees of freedom of the standard error: Student's
/// t at 99 %, and at least 4.
const STANDARD_ERRORS: [f64; 5] = [63.66, 9.92, 5.84, 4.6, 4.03];
const FEWEST_STANDARD_ERRORS: f64 = 4.0;

/// How much the counts of two server runs may differ without a cause in the server's code, in the metric's unit.
const fn unrelated(metric: Metric) -> f64 {
    match metric.row().source {
        Source::Counted { unrelated, .. } => unrelated,
        Source::Timed { .. } => 0.0,
    }
}

/// The figure of a metric: the slope between the shortest and the longest runs, averaged over start layouts; refused when
/// repetitions at the first layout differ by more than `spread_at_most`, a share of it. The spread covers every repetition, and
/// what other requests might have cost: a cost that varies from request to request makes slopes vary.
pub fn slope(metric: Metric, points: Vec<Point>, spread_at_most: f64) -> Figure {
    let first = at(&points, 0);
    let Some((few, many, more)) = ends(&first) else {
        return refused(metric, "no runs of two lengths ended well".into());
    };
    let by_layout = by_layout(&points);
    let value = mean(&by_layout);
    let distance = distance(&few, &many) / more;
    let unrelated = unrelated(metric) / more;
    let value = if value.abs() <= unrelated { 0.0 } else { value };
    let refused = if value < 0.0 {
        Some(format!(
            "longer runs cost less than shorter ones ({value:.1} per request): what the server does by itself outweighs its requests"
        ))
    } else if distance > value * spread_at_most + unrelated {
        Some(format!(
            "repetitions differ by ±{:.2} %, more than the {} % up to which a figure is given (count.spread_at_most)",
            distance / value * 100.0,
            spread_at_most * 100.0,
        ))
    } else {
        None
    };
    let several = by_layout.len() > 1 && refused.is_none() && value > 0.0;
    Figure {
        metric,
        value: refused.is_none().then_some(value),
        spread: Some(
            distance
                .max(sampling_error(&few, &many) / more)
                .max(least_spread(metric, value, unrelated)),
        ),
        refused,
        by_layout: if several { by_layout } else { Vec::new() },
        points,
    }
}

/// The largest distance of the difference between one long and one short run from the difference of the means.
fn distance(few: &[f64], many: &[f64]) -> f64 {
    let difference = mean(many) - mean(few);
    let pairs = many.iter().flat_map(|long| few.iter().map(move |short| long - short));
    pairs.map(|pair| (pair - difference).abs()).fold(0.0, f64::max)
}

/// How far the difference of the means may be from the true one, by chance; 0 without repetitions.
fn sampling_error(few: &[f64], many: &[f64]) -> f64 {
    let ends = [few, many];
    let squares = ends.map(|end| end.iter().map(|value| (value - mean(end)).powi(2)).sum::<f64>());
    let freedom = ends.map(|end| end.len() - 1);
    let all = freedom[0] + freedom[1];
    if all == 0 {
        return 0.0;
    }
    // An end with a single run has the variance of the other.
    let pooled = (squares[0] + squares[1]) / length(all);
    let variance = |side: usize| match freedom[side] {
        0 => pooled,
        freedom => squares[side] / length(freedom),
    };
    let error = (variance(0) / length(few.len()) + variance(1) / length(many.len())).sqrt();
    error * STANDARD_ERRORS.get(all - 1).copied().unwrap_or(FEWEST_STANDARD_ERRORS)
}

/// By how much the two repetitions of a figure differ at the first start layout, as a share of it; `None` if it is not known,
/// or if there are more repetitions, so that one of them says little.
pub fn disagreement(figure: &Figure) -> Option<f64> {
    let (few, many, _) = ends(&at(&figure.points, 0)).filter(|(few, many, _)| few.len().max(many.len()) <= 2)?;
    let difference = mean(&many) - mean(&few);
    (difference > 0.0).then(|| distance(&few, &many) / difference)
}

/// Whether server runs of one length agree, but for what has no cause in the server's code.
pub fn repeats(figure: &Figure) -> bool {
    let points = &figure.points;
    points.iter().all(|one| {
        let same = points.iter().filter(|other| other.requests == one.requests);
        same.map(|other| as_float(other.total.abs_diff(one.total)))
            .all(|apart| apart <= unrelated(figure.metric))
    })
}

/// The points of one start layout.
fn at(points: &[Point], layout: u32) -> Vec<Point> {
    points.iter().copied().filter(|point| point.layout == layout).collect()
}

/// The slope at each layout, from the first on, as far as both ends were counted there.
fn by_layout(points: &[Point]) -> Vec<f64> {
    let slope = |layout| {
        let (few, many, more) = ends(&at(points, layout))?;
        Some((mean(&many) - mean(&few)) / more)
    };
    (0..).map_while(slope).collect()
}

/// The rate of a rare event per request: only if every longer run has more events than every shorter one, by at least
/// [`FEWEST_EVENTS`].
pub fn rare(points: &[Point]) -> Option<f64> {
    let (few, many, more) = ends(points)?;
    let most = few.iter().copied().fold(0.0, f64::max);
    let least = many.iter().copied().fold(f64::INFINITY, f64::min);
    (least - most >= FEWEST_EVENTS).then(|| (mean(&many) - mean(&few)) / more)
}

/// The smallest spread of a figure, even if its few repetitions agree: the full allowance of [`unrelated`] if a single
/// byte or call would be judged a change or the cost is near zero; a small part of the cost if the metric gates with a
/// margin.
fn least_spread(metric: Metric, value: f64, unrelated: f64) -> f64 {
    let gates_with_margin = metric.row().gate == DefaultGate::Always && metric.row().margin_percent > 0.0;
    if gates_with_margin && value > 10.0 * unrelated {
        unrelated.min(value * UNRELATED_SHARE)
    } else {
        unrelated
    }
}

/// The cost of a run without requests: the line through short and long runs, at zero requests. Refused if the slope is.
pub fn intercept(metric: Metric, slope: &Figure) -> Option<Figure> {
    let first = at(&slope.points, 0);
    let (few, _, more) = ends(&first)?;
    let requests = requests(&first).min()?;
    let cost = slope.value?;
    let cost = slope.by_layout.first().copied().unwrap_or(cost);
    let value = mean(&few) - cost * as_float(requests);
    let spread = reach(&few) + slope.spread.unwrap_or(0.0) * as_float(requests).min(more);
    Some(Figure {
        value: (value >= 0.0).then_some(value),
        spread: Some(spread),
        refused: (value < 0.0).then(|| "requests cost more the longer the server runs".into()),
        ..unknown(metric)
    })
}

/// A figure that needs no counting.
pub fn known(metric: Metric, value: u64) -> Figure {
    Figure {
        value: Some(as_float(value)),
        spread: Some(0.0),
        ..unknown(metric)
    }
}

/// A refused figure.
pub fn refused(metric: Metric, why: String) -> Figure {
    Figure {
        refused: Some(why),
        ..unknown(metric)
    }
}

const fn unknown(metric: Metric) -> Figure {
    Figure {
        metric,
        value: None,
        spread: None,
        refused: None,
        by_layout: Vec::new(),
        points: Vec::new(),
    }
}

/// How much more a request costs in the second half of the longest runs than in the first, as a share of the cost;
/// `None` if the runs of middle length show no change worth a remark.
pub fn curvature(points: &[Point]) -> Option<f64> {
    let points = &at(points, 0)[..];
    let (few, many, _) = ends(points)?;
    let (least, most) = (requests(points).min()?, requests(points).max()?);
    let between: Vec<&Point> = points
        .iter()
        .filter(|point| point.requests > least && point.requests < most)
        .collect();
    let middle = between.first()?;
    let same = between.iter().filter(|point| point.requests == middle.requests);
    let totals: Vec<f64> = same.map(|point| as_float(point.total)).collect();
    let first = (mean(&totals) - mean(&few)) / as_float(middle.requests - least);
    let second = (mean(&many) - mean(&totals)) / as_float(most - middle.requests);
    let noise = 3.0 * (reach(&few) + reach(&many)) / as_float(middle.requests - least);
    let dearer = second - first;
    (first > 0.0 && dearer.abs() > REMARKED_CHANGE * first && dearer.abs() > noise).then(|| dearer / first)
}

/// Totals of the shortest runs, of the longest, and the requests between them.
fn ends(points: &[Point]) -> Option<(Vec<f64>, Vec<f64>, f64)> {
    let (least, most) = (requests(points).min()?, requests(points).max()?);
    let of = |wanted: u64| -> Vec<f64> {
        let same = points.iter().filter(|point| point.requests == wanted);
        same.map(|point| as_float(point.total)).collect()
    };
    (most > least).then(|| (of(least), of(most), as_float(most - least)))
}

fn requests(points: &[Point]) -> impl Iterator<Item = u64> {
    points.iter().map(|point| point.requests)
}

/// The largest distance of a value from the mean.
fn reach(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|value| (value - mean).abs()).fold(0.0, f64::max)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / length(values.len())
}

#[expect(clippy::cast_precision_loss, reason = "lists are short")]
const fn length(count: usize) -> f64 {
    count as f64
}

#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
const fn as_float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn points(totals: &[(u64, u64)]) -> Vec<Point> {
        let point = |(requests, total): &(u64, u64)| Point {
            requests: *requests,
            total: *total,
            layout: 0,
        };
        totals.iter().map(point).collect()
    }

    fn of(totals: &[(u64, u64)]) -> Figure {
        slope(Metric::Instructions, points(totals), 0.005)
    }

    proptest! {
        #[test]
        fn whatever_starting_costs_a_straight_line_gives_its_slope(
            start in 0u64..1_000_000_000, cost in 1_000u64..1_000_000, few in 10u64..1000, more in 100u64..10_000
        ) {
            let total = |requests: u64| (requests, start + cost * requests);
            let line = [total(few), total(few), total(few + more), total(few + more / 2)];
            let found = of(&line);
            prop_assert!((found.value.unwrap() - cost as f64).abs() < 1e-6);
            let unrelated = unrelated(Metric::Instructions) / more as f64;
            prop_assert!(found.spread.unwrap() <= unrelated && found.spread.unwrap() >= unrelated.min(cost as f64 / 1_000.0) - 1e-9);
            let begun = intercept(Metric::StartUpInstructions, &found).unwrap().value.unwrap();
            prop_assert!((begun - start as f64).abs() < 1e-3);
            prop_assert_eq!(curvature(&points(&line)), None);
        }

        #[test]
        fn no_single_pair_of_runs_lies_outside_the_spread(
            short in prop::collection::vec(1_000_000u64..1_002_000, 1..5),
            long in prop::collection::vec(9_000_000u64..9_002_000, 1..5),
        ) {
            let all: Vec<_> = short.iter().map(|t| (100, *t)).chain(long.iter().map(|t| (600, *t))).collect();
            let found = of(&all);
            let (value, spread) = (found.value.unwrap(), found.spread.unwrap());
            for (s, l) in short.iter().flat_map(|s| long.iter().map(move |l| (s, l))) {
                let single = (*l as f64 - *s as f64) / 500.0;
                prop_assert!((single - value).abs() <= spread + 1e-9);
            }
        }
    }

    /// The next number of a xorshift generator.
    fn next(state: &mut u64) -> u64 {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        *state
    }

    /// The figure of responses of random lengths from 20 bytes on, over so many runs of each length.
    fn of_random_lengths(random: &mut u64, longest: u64, runs: usize) -> (f64, f64) {
        let mut length = || 120 + next(random) % (longest - 19);
        let mut total = |requests: u64| (requests, (0..requests).map(|_| length()).sum());
        let totals: Vec<(u64, u64)> = (0..runs).flat_map(|_| [total(100), total(400)]).collect();
        let found = slope(Metric::WireBytesSent, points(&totals), f64::INFINITY);
        (found.value.unwrap(), found.spread.unwrap())
    }

    #[test]
    fn the_spreads_of_two_sides_cover_the_difference_that_random_lengths_make_and_not_a_real_one() {
        let mut random = 88_172_645_463_325_252;
        for runs in [2, 4, 9] {
            let mut false_alarms = 0;
            for _ in 0..400 {
                let [one, other] = [(); 2].map(|()| of_random_lengths(&mut random, 80, runs));
                false_alarms += u32::from((one.0 - other.0).abs() > one.1 + other.1);
            }
            assert!(false_alarms <= 4, "{false_alarms} of 400 with {runs} runs");
        }
        let found = (0..100).filter(|_| {
            let base = of_random_lengths(&mut random, 80, 9);
            let longer = of_random_lengths(&mut random, 110, 9);
            longer.0 - base.0 > base.1 + longer.1
        });
        assert!(found.count() >= 95);
    }

    #[test]
    fn a_figure_is_the_mean_over_layouts_and_its_spread_is_that_of_repetitions_at_one() {
        let at = |layout: u32, requests: u64, total: u64| Point {
            requests,
            total,
            layout,
        };
        let points = vec![
            at(0, 100, 2_000_000),
            at(0, 400, 5_000_000),
            at(0, 100, 2_000_000),
            at(0, 400, 5_000_300),
            at(1, 100, 2_000_000),
            at(1, 400, 5_060_000),
        ];
        let found = slope(Metric::Instructions, points, 0.005);
        assert_eq!(found.by_layout, [10_000.5, 10_200.0]);
        assert_eq!(found.value, Some(10_100.25));
        assert!(found.spread.unwrap() < 20.0, "{found:?}");
        assert_eq!(curvature(&found.points), None);
    }

    #[test]
    fn a_spread_above_the_bound_gives_no_figure_and_says_so() {
        let found = of(&[(100, 10_000), (100, 10_000), (600, 510_000), (600, 520_000)]);
        assert_eq!(found.value, None);
        let why = found.refused.unwrap();
        assert!(why.contains("±0.99 %") && why.contains("0.5 %"), "{why}");
    }

    #[test]
    fn nothing_per_request_is_a_figure_too_and_what_comes_now_and_then_is_none() {
        let calls = |long| {
            let found = slope(
                Metric::Syscalls,
                points(&[(100, 70), (100, 70), (600, long), (600, long)]),
                0.005,
            );
            (found.value, found.spread, found.refused)
        };
        for long in [68, 70, 76] {
            assert_eq!(calls(long), (Some(0.0), Some(6.0 / 500.0), None));
        }
        assert_eq!(calls(570).0, Some(1.0));
    }

    #[test]
    fn what_one_request_in_fifty_does_is_seen_where_every_longer_run_repeats_it() {
        let rate = |totals: &[(u64, u64)]| rare(&points(totals));
        assert_eq!(rate(&[(100, 2), (100, 2), (400, 8), (400, 8)]), Some(0.02));
        assert_eq!(
            rate(&[(100, 70), (100, 71), (400, 72), (400, 70)]),
            None,
            "once more by chance"
        );
        assert_eq!(rate(&[(100, 70), (100, 70)]), None);
    }

    #[test]
    fn a_single_allocation_in_a_request_is_not_drowned_by_what_happens_by_the_clock() {
        let totals = points(&[(20, 100), (20, 100), (220, 300), (220, 300)]);
        let found = slope(Metric::Allocations, totals, 0.005);
        assert_eq!((found.value, found.spread), (Some(1.0), Some(0.001)));
    }

    #[test]
    fn a_cost_that_grows_while_the_server_runs_is_seen_by_the_third_point() {
        let grows = |n: u64| (n, 1_000_000 + 10_000 * n + 5 * n * n);
        let dearer = curvature(&points(&[grows(100), grows(350), grows(600)])).unwrap();
        assert!((0.1..0.5).contains(&dearer), "{dearer}");
        assert_eq!(
            curvature(&points(&[grows(100), grows(600)])),
            None,
            "two points tell nothing"
        );
    }

    #[test]
    fn longer_runs_that_cost_less_give_no_figure() {
        assert!(
            of(&[(100, 50_000), (600, 4_000)])
                .refused
                .unwrap()
                .contains("cost less")
        );
        assert!(slope(Metric::Syscalls, Vec::new(), 0.005).refused.is_some());
    }
}
