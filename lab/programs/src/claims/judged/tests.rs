use super::*;
use crate::claims::publication::Job;
use proptest::prelude::*;
use wirebench_record::run::Round;
use wirebench_testing::reference;

fn claim(first: f64, second: f64) -> Claim {
    Claim {
        quantity: Quantity::ThroughputRps,
        values: [first, second],
        called_equal: false,
    }
}

/// A run of two series with 6 rounds each, at these rates.
fn run_of(pairs: &[(&str, f64)]) -> Run {
    let mut run = reference();
    let sample = run.series[0].clone();
    run.series = (pairs.iter())
        .map(|(id, rate)| {
            let round = |number: u32| Round {
                round: number,
                ok_count: Some(1000),
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a test's rates")]
                elapsed_ns: Some((1e12 / rate * (1.0 + f64::from(number) / 1000.0)) as u64),
                ..sample.rounds[0].clone()
            };
            let mut series = sample.clone();
            (series.id, series.rounds) = ((*id).to_owned(), (0..6).map(round).collect());
            series
        })
        .collect();
    run
}

/// A question about `a@http@x` and `a@grpc@x`, their way and on equal terms.
fn question(claim: Claim) -> Question {
    Question {
        about: String::new(),
        sides: ["HTTP".into(), "gRPC".into()],
        theirs: ["a@http@x".into(), "a@grpc@x".into()],
        equal: None,
        claims: vec![claim],
        not_counted: None,
        experiments: Vec::new(),
    }
}

/// The finding of rounds whose ratios lie above and below that of these medians by a factor of `spread`.
fn found_in(spread: f64, claim: &Claim, rates: [f64; 2]) -> Finding {
    let mut run = run_of(&[("a@http@x", rates[0]), ("a@grpc@x", rates[1])]);
    for (number, round) in run.series[1].rounds.iter_mut().enumerate() {
        let by = if number % 2 == 0 { spread } else { 1.0 / spread };
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a test's rates"
        )]
        let elapsed = (round.elapsed_ns.unwrap() as f64 * by) as u64;
        round.elapsed_ns = Some(elapsed);
    }
    outcome(&question(claim.clone()), &run).claims[0].finding
}

#[test]
fn equality_needs_an_interval_within_ten_percent() {
    let equal = claim(4_361.9, 4_433.2);
    assert_eq!(found_in(1.05, &equal, [100.0, 100.0]), Finding::Holds);
    assert_eq!(found_in(1.3, &equal, [100.0, 100.0]), Finding::CannotTell);
    let small = claim(8_964.0, 8_581.0);
    assert_eq!(found(&small, [100.0, 96.0], [100.0, 96.0]), Finding::Holds);
    let different = claim(1000.0, 2000.0);
    assert_eq!(found_in(1.05, &different, [100.0, 100.0]), Finding::Vanishes);
    assert_eq!(found_in(1.3, &different, [100.0, 100.0]), Finding::FarSmallerIfAny);
    assert_eq!(found_in(1.6, &different, [100.0, 100.0]), Finding::CannotTell);
    let smaller = claim(1000.0, 500.0);
    assert_eq!(found_in(1.3, &smaller, [100.0, 100.0]), Finding::FarSmallerIfAny);
    assert_eq!(found_in(1.6, &smaller, [100.0, 100.0]), Finding::CannotTell);
}

fn found(claim: &Claim, theirs: [f64; 2], equal: [f64; 2]) -> Finding {
    let names = ["a@http@x", "a@grpc@x", "b@http@x", "b@grpc@x"];
    let rates = [theirs[0], theirs[1], equal[0], equal[1]];
    let run = run_of(&names.into_iter().zip(rates).collect::<Vec<_>>());
    let question = Question {
        equal: Some(["b@http@x".into(), "b@grpc@x".into()]),
        ..question(claim.clone())
    };
    outcome(&question, &run).claims[0].finding
}

#[test]
fn every_finding_follows_from_the_three_ratios() {
    let better = claim(1000.0, 2000.0);
    assert_eq!(found(&better, [100.0, 150.0], [100.0, 130.0]), Finding::Holds);
    assert_eq!(found(&better, [100.0, 150.0], [100.0, 70.0]), Finding::Reverses);
    assert_eq!(found(&better, [100.0, 150.0], [100.0, 100.5]), Finding::Vanishes);
    assert_eq!(found(&better, [100.0, 60.0], [100.0, 70.0]), Finding::Contradicted);
    assert_eq!(
        found(&better, [100.0, 60.0], [100.0, 170.0]),
        Finding::HoldsOnEqualTermsOnly
    );
    assert_eq!(found(&better, [100.0, 100.0], [100.0, 70.0]), Finding::Reverses);
    let equal = claim(1000.0, 1010.0);
    assert_eq!(found(&equal, [100.0, 100.0], [100.0, 101.0]), Finding::Holds);
    assert_eq!(found(&equal, [100.0, 150.0], [100.0, 150.0]), Finding::Contradicted);
}

#[test]
fn figures_that_a_publication_calls_equal_are_a_claim_of_equality() {
    let called_equal = Claim {
        called_equal: true,
        ..claim(1_973.5, 2_148.6)
    };
    assert_eq!(found(&called_equal, [100.0, 101.0], [100.0, 101.0]), Finding::Holds);
    assert_eq!(
        found(&called_equal, [100.0, 115.0], [100.0, 115.0]),
        Finding::Contradicted
    );
}

#[test]
fn a_difference_of_at_most_a_third_of_theirs_has_only_the_direction() {
    let size = |rate: f64| {
        let run = run_of(&[("a@http@x", 100.0), ("a@grpc@x", rate)]);
        outcome(&question(claim(1000.0, 1880.0)), &run).claims[0]
            .size()
            .map(|size| size.kind)
    };
    let kinds = [115.0, 134.0, 180.0, 300.0].map(size);
    let expected = [
        Some(SizeKind::FarSmaller),
        Some(SizeKind::Smaller),
        None,
        Some(SizeKind::Larger),
    ];
    assert_eq!(kinds, expected);
}

#[test]
fn what_a_run_does_not_have_is_not_measured() {
    let run = run_of(&[("a@http@x", 1.0)]);
    let question = question(claim(1.0, 2.0));
    assert_eq!(outcome(&question, &run).claims[0].finding, Finding::NotMeasured);
}

fn comparison() -> PublicComparison {
    PublicComparison {
        name: "x".into(),
        letter: "X".into(),
        title: String::new(),
        ran: String::new(),
        advice: String::new(),
        differs: Vec::new(),
        questions: vec![question(claim(1.0, 2.0))],
        published: Vec::new(),
        said: Vec::new(),
        audits: Vec::new(),
        jobs: Vec::new(),
        factors: Vec::new(),
        codecs: Vec::new(),
        cross_check: Vec::new(),
        month: None,
    }
}

#[test]
fn pairs_that_the_newest_run_lacks_are_taken_whole_from_another() {
    let mut comparison = comparison();
    let job = |first: &str, second: &str| Job {
        group: "a group".into(),
        job: "a job".into(),
        case: None,
        sides: ["HTTP".into(), "gRPC".into()],
        pair: [first.into(), second.into()],
    };
    comparison.jobs = vec![job("added@http@x", "added@grpc@x"), job("half@http@x", "half@grpc@x")];
    let asked = [("a@http@x", 1.0), ("a@grpc@x", 1.0), ("half@http@x", 1.0)];
    let added = [
        "added@http@x",
        "added@grpc@x",
        "half@http@x",
        "half@grpc@x",
        "unasked@http@x",
    ]
    .map(|id| (id, 1.0));
    let (mut run, mut later) = (run_of(&asked), run_of(&added));
    later.id = "later".into();
    complete(&comparison, &mut [&mut later, &mut run]);
    let series: Vec<&str> = run.series.iter().map(|series| series.id.as_str()).collect();
    assert_eq!(
        series,
        ["a@http@x", "a@grpc@x", "half@http@x", "added@http@x", "added@grpc@x"],
        "a pair is of one run, and nothing comes along"
    );
}

#[test]
fn of_several_runs_the_newest_that_measured_a_comparison_is_taken() {
    let ids = [("a@http@x", 1.0), ("a@grpc@x", 1.0)];
    let (older, mut newer, mut other) = (run_of(&ids), run_of(&ids), run_of(&ids[..1]));
    (newer.started_at, other.started_at) = ("2027-01-01T00:00:00Z".into(), "2027-02-01T00:00:00Z".into());
    newer.id = "newer".into();
    let comparison = comparison();
    assert_eq!(newest(&comparison, [&older, &newer, &other]).unwrap().id, "newer");
    assert!(newest(&comparison, [&other]).is_none(), "only one side of it");
}

#[test]
fn a_change_takes_away_its_share_of_the_difference() {
    let run = run_of(&[("a@http@x", 100.0), ("a@grpc@x", 400.0), ("b@http@x", 200.0)]);
    let question = Question {
        experiments: vec![Experiment {
            changes: "keep-alive".into(),
            pair: ["b@http@x".into(), "a@grpc@x".into()],
            cause: String::new(),
        }],
        ..question(claim(1.0, 2.0))
    };
    let tried = outcome(&question, &run).experiments.remove(0);
    assert!(
        (tried.share.unwrap() - 0.5).abs() < 0.01,
        "4 × becomes 2 ×: half, by logarithms"
    );
    assert!(tried.is_clear);
    let unchanged = Experiment {
        pair: ["a@http@x".into(), "a@grpc@x".into()],
        ..question.experiments[0].clone()
    };
    let question = Question {
        experiments: vec![unchanged],
        ..question
    };
    assert!(!outcome(&question, &run).experiments[0].is_clear, "nothing changed");
}

proptest! {
    #[test]
    fn sides_that_change_places_change_the_finding_of_neither(
        a in 1.0f64..1e6, b in 1.0f64..1e6, c in 1.0f64..1e6, d in 1.0f64..1e6, e in 1.0f64..1e6, f in 1.0f64..1e6
    ) {
        prop_assert_eq!(
            found(&claim(a, b), [c, d], [e, f]),
            found(&claim(b, a), [d, c], [f, e])
        );
    }
}
