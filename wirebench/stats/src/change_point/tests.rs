use super::*;
use proptest::prelude::*;
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;

/// Steps of a row, as (last before, first after, reported).
fn steps(values: &[f64]) -> Vec<ChangePoint> {
    let mut detector = Detector::default();
    for value in values {
        detector.push(*value);
    }
    detector.change_points()
}

/// Noise that repeats: 0 … ±0.9 %, in multiples of 2⁻¹², so that sums with such numbers are exact.
fn noise(place: usize) -> f64 {
    [0.0, 12.0, -30.0, 21.0, -7.0, 36.0, -18.0, 5.0, -24.0, 9.0, -36.0][place * 7 % 11] / 4096.0
}

fn noisy(count: usize) -> Vec<f64> {
    (0..count).map(noise).collect()
}

fn stepped(count: usize, at: usize, size: f64) -> Vec<f64> {
    (0..count)
        .map(|place| noise(place) + if place >= at { size } else { 0.0 })
        .collect()
}

#[test]
fn a_step_is_reported_within_five_pushes_with_its_place_and_size() {
    let mut detector = Detector::default();
    let mut events = Vec::new();
    for (place, value) in stepped(60, 40, 0.0625).iter().enumerate() {
        events.extend(detector.push(*value).map(|event| (place, event)));
    }
    let [(place, Event::Reported)] = events[..] else {
        panic!("{events:?}")
    };
    assert!((42..45).contains(&place), "{place}");
    let [found] = detector.change_points()[..] else {
        panic!("one step")
    };
    assert_eq!((found.last_before, found.first_after, found.reported), (39, 40, place));
    assert!((found.change.estimate - 0.0625).abs() < 0.004, "{found:?}");
    assert!(found.change.low < 0.0625 && 0.0625 < found.change.high);
}

#[test]
fn a_step_below_two_percent_is_none() {
    assert_eq!(steps(&stepped(120, 60, 0.0156)), []);
    assert_eq!(steps(&stepped(120, 60, 0.0273)).len(), 1);
}

#[test]
fn works_from_a_dozen_values() {
    assert_eq!(steps(&stepped(14, 7, 0.25)).len(), 1);
    assert_eq!(steps(&stepped(9, 5, 0.25)), []);
}

#[test]
fn a_step_without_any_noise_is_seen_at_the_third_value() {
    let mut row = vec![0.0; 30];
    row.extend([0.0625; 3]);
    let [found] = steps(&row)[..] else { panic!("one step") };
    assert_eq!((found.last_before, found.first_after, found.reported), (29, 30, 32));
}

#[test]
fn a_level_that_does_not_last_is_withdrawn() {
    let mut detector = Detector::default();
    let mut row = stepped(34, 30, 0.125);
    row.extend(noisy(20));
    let events: Vec<Event> = row.iter().filter_map(|value| detector.push(*value)).collect();
    assert_eq!(events, [Event::Reported, Event::Withdrawn]);
    assert_eq!(detector.change_points(), []);
}

#[test]
fn two_steps_far_apart_are_two() {
    let row: Vec<f64> = (0..120)
        .map(|place| noise(place) + if (40..80).contains(&place) { 0.125 } else { 0.0 })
        .collect();
    let found: Vec<(usize, bool)> = steps(&row)
        .iter()
        .map(|step| (step.first_after, step.change.estimate > 0.0))
        .collect();
    assert_eq!(found, [(40, true), (80, false)]);
}

#[test]
fn what_can_be_seen_follows_the_noise_and_needs_enough_values() {
    let of = |scale: f64, count: usize| {
        let mut detector = Detector::default();
        for value in noisy(count) {
            detector.push(value * scale);
        }
        detector.resolvable()
    };
    assert_eq!(of(1.0, 14), None);
    let [quiet, middling, loud] = [0.0, 1.0, 8.0].map(|scale| of(scale, 30).unwrap());
    assert_eq!(quiet, SMALLEST_STEP);
    assert!(quiet < middling && middling < 0.05 && loud > 0.1, "{middling} {loud}");
}

#[test]
fn what_is_far_off_needs_few_values_before() {
    let mut row = noisy(6);
    row.extend([7.0, 7.1, 7.05]);
    let [found] = steps(&row)[..] else { panic!("one step") };
    assert_eq!((found.last_before, found.first_after, found.reported), (5, 6, 8));
}

/// A row whose values keep a share of their distance from the level.
fn correlated(count: usize, share: f64) -> Vec<f64> {
    let mut distance = 0.0;
    let next = |place: usize| {
        distance = share * distance + noise(place * place + place / 7);
        distance
    };
    (0..count).map(next).collect()
}

#[test]
fn the_noise_says_how_it_is_correlated_and_where_it_drifts() {
    let of = |row: &[f64]| {
        let mut detector = Detector::default();
        for value in row {
            detector.push(*value);
        }
        detector.noise().unwrap()
    };
    assert_eq!(Detector::default().noise(), None);
    let [loose, tied] = [0.0, 0.7].map(|share| of(&correlated(100, share)).autocorrelation);
    assert!(loose < 0.3 && tied > loose + 0.3, "{loose} {tied}");
    let drifting: Vec<f64> = (0..40u32)
        .map(|place| 0.25 * noise(place as usize) + 0.0003 * f64::from(place))
        .collect();
    let slope = of(&drifting).slope;
    assert!((0.0002..0.0004).contains(&slope), "{slope}");
    assert_eq!(of(&noisy(60)).slope, 0.0);
    let mut outliers = noisy(60);
    outliers[20] = 0.5;
    outliers[50] = 0.5;
    assert!((of(&outliers).outliers - 2.0 / 60.0).abs() < 1e-9);
}

#[test]
fn levels_that_come_back_are_followed_in_silence() {
    // Up and down by 6 % every 15 values: the first step and the first way back are news.
    let row: Vec<f64> = (0..150)
        .map(|place| noise(place) + if place / 15 % 2 == 1 { 0.0625 } else { 0.0 })
        .collect();
    let mut detector = Detector::default();
    for value in &row {
        detector.push(*value);
    }
    let found: Vec<usize> = detector.change_points().iter().map(|step| step.first_after).collect();
    assert_eq!(found, [15, 30]);
    assert!(detector.returns() >= 4, "{}", detector.returns());
    // A new level is reported.
    for place in 0..6 {
        detector.push(noise(place) + 0.25);
    }
    assert_eq!(detector.change_points().len(), 3);
}

/// Places of the steps that are reported at the end.
fn places(values: &[f64]) -> Vec<usize> {
    steps(values).iter().map(|step| step.first_after).collect()
}

/// How many of these places have a step within five values.
fn found(values: &[f64], places: &[usize]) -> usize {
    let found = self::places(values);
    let near = |place: &&usize| found.iter().any(|step| step.abs_diff(**place) <= 5);
    places.iter().filter(near).count()
}

/// A standard normal number, by Box and Muller.
fn normal(rng: &mut ChaCha8Rng) -> f64 {
    let (one, two): (f64, f64) = (rng.random(), rng.random());
    (-2.0 * (1.0 - one).ln()).sqrt() * (std::f64::consts::TAU * two).cos()
}

#[test]
fn a_level_between_others_that_was_not_there_before_is_reported() {
    // Down 12 %, up 18 % in two steps, and then to a level between them that is new.
    let levels = [(15, 0.12), (45, 0.0), (10, 0.035), (24, 0.18), (30, 0.08)];
    let (mut rng, mut seen) = (ChaCha8Rng::seed_from_u64(1), 0);
    for _ in 0..100 {
        let level = |(count, level)| std::iter::repeat_n(level, count);
        let row: Vec<f64> = (levels.into_iter().flat_map(level))
            .map(|level| level + 0.008 * normal(&mut rng))
            .collect();
        seen += found(&row, &[94]);
    }
    assert!(seen >= 90, "{seen} of 100");
}

#[test]
fn a_level_is_compared_with_the_remembered_ones_again_while_it_is_new() {
    // A third level, 2.5 % from the first: three values do not tell it from that one, ten do.
    let row: Vec<f64> = (0..110)
        .map(|place| noise(place) + [0.0, -0.12, 0.06, 0.025][[20, 50, 80, 110].partition_point(|end| *end <= place)])
        .collect();
    let mut detector = Detector::default();
    let mut reported = Vec::new();
    for (place, value) in row.iter().enumerate() {
        let event = detector.push(*value);
        reported.extend((event == Some(Event::Reported)).then_some(place));
    }
    assert_eq!(places(&row), [20, 50, 80]);
    assert!(reported.len() == 3 && (82..90).contains(&reported[2]), "{reported:?}");
}

#[test]
fn values_that_do_not_overlap_are_a_step_whatever_the_spread_before() {
    // Evenly spread values, a multiple of the ones before: their logarithms are skewed and spread most at first.
    let levels = [(2.0, 50.0), (60.0, 120.0), (150.0, 250.0)];
    let (mut rng, mut seen) = (ChaCha8Rng::seed_from_u64(1), 0);
    for _ in 0..100 {
        let mut row = Vec::new();
        for (low, high) in levels {
            row.extend((0..20).map(|_| (low + (high - low) * rng.random::<f64>()).ln()));
        }
        seen += found(&row, &[20, 40]);
    }
    assert!(seen >= 150, "{seen} of 200");
}

fn row() -> impl Strategy<Value = Vec<f64>> {
    let level = (0usize..60, -400i32..400);
    (
        prop::collection::vec(-60i32..60, 20..120),
        prop::collection::vec(level, 0..3),
    )
        .prop_map(|(noise, levels)| {
            let value = |(place, unit): (usize, i32)| {
                let level: i32 = levels.iter().filter(|(at, _)| place >= *at).map(|(_, size)| size).sum();
                f64::from(unit + level) / 4096.0
            };
            noise.into_iter().enumerate().map(value).collect()
        })
}

proptest! {
    #[test]
    fn a_constant_row_has_no_step(value in -50.0f64..50.0, count in 0usize..200) {
        prop_assert_eq!(steps(&vec![value; count]), []);
    }

    #[test]
    fn the_sign_follows_the_direction(row in row()) {
        let mirrored: Vec<f64> = row.iter().map(|value| -value).collect();
        let (there, back) = (steps(&row), steps(&mirrored));
        prop_assert_eq!(there.len(), back.len());
        for (one, other) in there.iter().zip(&back) {
            prop_assert_eq!((one.last_before, one.first_after), (other.last_before, other.first_after));
            prop_assert_eq!(one.change.estimate, -other.change.estimate);
            prop_assert_eq!((one.change.low, one.change.high), (-other.change.high, -other.change.low));
        }
    }

    #[test]
    fn only_differences_count(row in row(), shift in -8i32..8) {
        let shifted: Vec<f64> = row.iter().map(|value| value + f64::from(shift)).collect();
        prop_assert_eq!(steps(&row), steps(&shifted));
    }

    #[test]
    fn one_or_two_outliers_are_never_a_step(
        place in 0usize..100, size in -3.0f64..3.0, two in any::<bool>()
    ) {
        let mut row = noisy(100);
        row[place] += size;
        if two && place > 0 {
            row[place - 1] += size;
        }
        let mut detector = Detector::default();
        for value in row {
            prop_assert_eq!(detector.push(value), None);
        }
    }

    #[test]
    fn steps_are_in_order_and_enclose_their_estimate(row in row()) {
        let found = steps(&row);
        for step in &found {
            prop_assert!(step.last_before < step.first_after && step.first_after < row.len());
            prop_assert!(step.reported >= step.last_before && step.reported < row.len());
            prop_assert!(step.change.low <= step.change.estimate && step.change.estimate <= step.change.high);
        }
        prop_assert!(found.windows(2).all(|pair| pair[0].last_before < pair[1].last_before));
    }
}
