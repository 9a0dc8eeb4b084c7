use super::*;
use proptest::prelude::*;
use wirebench_record::trend::{Direction, Push, StepPlaces};

const NONE: [usize; 0] = [];

/// A push of which only the commit is known.
pub(crate) fn push() -> Push {
    Push {
        run: None,
        commit: "abcdef1".into(),
        at: None,
        message: None,
        author: None,
    }
}

/// A step of that size that nothing else is known of.
pub(crate) fn step(percent: f64) -> ChangePoint {
    ChangePoint {
        last_before: push(),
        first_after: push(),
        reported: push(),
        places: StepPlaces::default(),
        change_percent: percent,
        low_percent: percent - 1.0,
        high_percent: percent + 1.0,
        direction: Direction::Unknown,
        accepted: None,
        not_code: None,
        alert: false,
        open: false,
        recent: false,
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Code,
    Machine,
    Accepted,
}

/// A segment of a metric that is better lower, with these steps in percent.
fn segment(steps: &[(f64, Kind)]) -> Segment {
    let change_point = |(percent, kind): &(f64, Kind)| ChangePoint {
        direction: if *percent > 0.0 {
            Direction::Worse
        } else {
            Direction::Better
        },
        accepted: (*kind == Kind::Accepted).then(|| "meant".into()),
        not_code: (*kind == Kind::Machine).then(|| "the machine".into()),
        alert: *percent > 0.0 && *kind == Kind::Code,
        ..step(*percent)
    };
    Segment {
        broken_by: None,
        basis: Basis::Value,
        noise: None,
        first: push(),
        last: push(),
        places: (0, 99),
        points: 100,
        level: 1.0,
        resolvable_percent: None,
        change_points: steps.iter().map(change_point).collect(),
    }
}

/// The places of the open steps.
fn open(segments: &[&[(f64, Kind)]]) -> Vec<usize> {
    let mut segments: Vec<Segment> = segments.iter().map(|steps| segment(steps)).collect();
    mark_open(&mut segments);
    let change_points = segments.iter().flat_map(|segment| &segment.change_points);
    let open = change_points.enumerate().filter(|(_, point)| point.open);
    open.map(|(place, _)| place).collect()
}

fn code(steps: &[f64]) -> Vec<usize> {
    let steps: Vec<_> = steps.iter().map(|percent| (*percent, Kind::Code)).collect();
    open(&[&steps])
}

#[test]
fn half_of_a_step_taken_back_closes_it_and_a_new_step_opens_again() {
    assert_eq!(code(&[10.0]), [0]);
    assert_eq!(code(&[10.0, -3.0]), [0]);
    assert_eq!(code(&[10.0, -6.0]), NONE);
    assert_eq!(code(&[10.0, -3.0, -3.0]), NONE);
    assert_eq!(code(&[10.0, -9.1, 10.0]), [2]);
    assert_eq!(code(&[10.0, 100.0, -50.0]), [0]);
    assert_eq!(code(&[-50.0, 10.0]), [1]);
}

#[test]
fn a_break_closes_nothing_and_a_step_back_after_it_does() {
    let (worse, better) = ([(10.0, Kind::Code)], [(-9.0, Kind::Code)]);
    assert_eq!(open(&[&worse, &[]]), [0]);
    assert_eq!(open(&[&worse, &better]), NONE);
}

#[test]
fn machines_and_acceptances_open_nothing_and_do_not_hide_a_fix() {
    use Kind::{Accepted, Code, Machine};
    assert_eq!(open(&[&[(10.0, Machine), (10.0, Accepted)]]), NONE);
    assert_eq!(open(&[&[(10.0, Code), (30.0, Machine), (-9.0, Code)]]), NONE);
    assert_eq!(open(&[&[(10.0, Code), (30.0, Accepted), (-9.0, Code)]]), NONE);
    // The level is back: nobody sees a regression in it.
    assert_eq!(open(&[&[(10.0, Code), (-9.0, Machine)]]), NONE);
}

proptest! {
    #[test]
    fn later_worsenings_never_close_a_step(steps in prop::collection::vec(3.0..200.0f64, 1..12)) {
        prop_assert_eq!(code(&steps), (0..steps.len()).collect::<Vec<_>>());
    }

    #[test]
    fn a_step_back_below_every_earlier_level_closes_everything(
        steps in prop::collection::vec(prop_oneof![-60.0..-3.0f64, 3.0..200.0f64], 0..12)
    ) {
        let back = steps.into_iter().chain([-99.99999]).collect::<Vec<_>>();
        prop_assert_eq!(code(&back), Vec::<usize>::new());
    }
}
