//! Splitting a run and joining the parts gives the same run.

use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

use wirebench_declare::Project;
use wirebench_declare::plan::shards::Shard;
use wirebench_engine::session::join_shards;
use wirebench_judge::compare::paired;
use wirebench_record::reason::NoSecondStage;
use wirebench_record::run::{Round, Run, RunStatus, Series, SeriesStatus, Stage, Variant};

/// The recorded run, changed to have a baseline, a second stage of some series, and one series that only the baseline
/// has.
fn whole() -> Run {
    let mut run: Run = serde_json::from_str(include_str!("../../../../results/reference/run.json")).unwrap();
    let mut baseline = run.variants[0].clone();
    baseline.variant = Variant::Baseline;
    baseline.commit = Some("b".repeat(40));
    run.variants.insert(0, baseline);
    for (n, series) in run.series.iter_mut().enumerate() {
        let model = series.rounds[0].clone();
        series.rounds = (0..12).flat_map(|round| pair(&model, round, n)).collect();
    }
    run.rounds_planned = 12;
    run.stages = vec![Stage {
        number: 1,
        rounds: 12,
        series: run.series.iter().map(|series| series.id.clone()).collect(),
        why: "screen of every series".into(),
    }];
    let mut removed = run.series[0].clone();
    removed.id = "a-removed@http@hey".into();
    removed.scenario = "a-removed".into();
    (removed.missing_in, removed.rounds) = (Some(Variant::Candidate), Vec::new());
    run.series.push(removed);
    run.repeat = "wirebench run --baseline main --rounds 12 --seed 1".into();
    run
}

/// Both rounds of a pair; their CPU times depend on the numbers of series and round.
fn pair(model: &Round, round: u32, series: usize) -> [Round; 2] {
    [Variant::Baseline, Variant::Candidate].map(|variant| {
        let mut made = model.clone();
        (made.variant, made.round, made.stage) = (variant, round, 1);
        if let Some(cpu) = &mut made.server_cpu_ns {
            let worse = u64::from(variant == Variant::Candidate && series.is_multiple_of(3));
            cpu.user = cpu.user / 100 * (100 + 9 * worse + u64::from(round % 4));
        }
        made
    })
}

/// One run for each shard, as separate machines would have recorded it.
fn parts(whole: &Run, count: u32) -> Vec<Run> {
    let planned = whole.series.iter().filter(|series| series.missing_in.is_none());
    let named: Vec<(&str, &str)> = planned
        .map(|series| (series.scenario.as_str(), series.id.as_str()))
        .collect();
    let part = |number| {
        let shard = Shard { number, count };
        let own = shard.part(named.iter().copied());
        let mut run = whole.clone();
        run.id = format!("20261121T0510{:02}Z-00000{}", 10 + number, number);
        let mine = |id: &String| own.contains(id);
        let removed = |series: &Series| series.missing_in.is_some() && number == 1;
        run.series.retain(|series| mine(&series.id) || removed(series));
        for stage in &mut run.stages {
            stage.series.retain(mine);
        }
        run.repeat = format!("wirebench run --baseline main --shard {shard} --rounds 12 --seed 1");
        run
    };
    (1..=count).map(part).collect()
}

fn project() -> Project {
    Project::read(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).unwrap()
}

proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 24, ..Default::default() })]
    #[test]
    fn taken_apart_and_joined_it_is_the_whole(count in 1u32..7, turn in 0usize..7) {
        let whole = whole();
        let mut parts = parts(&whole, count);
        let turn = turn % parts.len();
        parts.rotate_left(turn);
        let joined = join_shards(parts.iter()).unwrap();
        prop_assert!(joined.series == whole.series);
        prop_assert_eq!(&joined.stages, &whole.stages);
        prop_assert_eq!(&joined.repeat, &whole.repeat);
        prop_assert_eq!(joined.status, RunStatus::Complete);
        prop_assert_eq!(joined.shards.len(), parts.len());
        let rules = project().config;
        let (mut one, mut other) = (paired(&whole, &rules).unwrap(), paired(&joined, &rules).unwrap());
        for side in [&mut one, &mut other] {
            (side.baseline.run, side.candidate.run) = (String::new(), String::new());
            side.notes.clear();
        }
        // The budget that would be enough is that of one machine.
        if let Some(NoSecondStage::NoTime { minutes, .. }) = &mut one.method.no_second_stage {
            *minutes = None;
        }
        prop_assert!(one == other);
        for series in &whole.series {
            prop_assert!(joined.shard_of(&series.id).is_some());
        }
        parts.rotate_right(turn);
        prop_assert_eq!(join_shards(parts.iter()).unwrap().id, joined.id);
    }
}

type Change<'a> = &'a dyn Fn(&mut Run);

#[test]
fn what_is_not_of_one_measurement_is_refused_by_name() {
    let parts = parts(&whole(), 2);
    let refused = |change: &dyn Fn(&mut Run)| {
        let mut parts = parts.clone();
        change(&mut parts[1]);
        join_shards(parts.iter()).unwrap_err()
    };
    let with: [(Change, &str); 8] = [
        (&|run| run.variants[1].commit = Some("c".repeat(40)), "candidate is"),
        (&|run| run.variants[0].commit = Some("c".repeat(40)), "baseline is"),
        (&|run| run.variants[1].modified = Some(true), ", modified"),
        (&|run| drop(run.variants.remove(0)), "baseline is"),
        (&|run| run.profile = "quick".into(), "profile is full"),
        (&|run| run.rounds_planned = 3, "number of rounds is 12"),
        (&|run| run.series[0] = parts[0].series[0].clone(), "another shard has"),
        (
            &|run| run.shards = join_shards(parts.iter()).unwrap().shards,
            "is joined already",
        ),
    ];
    for (change, why) in with {
        let error = refused(change);
        assert!(error.contains(why) && error.contains(&parts[1].id), "{why}: {error}");
    }
    let mut other_load = parts.clone();
    let scenario = parts[0].series[0].scenario.clone();
    for series in &mut other_load[1].series {
        series.scenario.clone_from(&scenario);
        series.load.warmup_ns = Some(7);
    }
    assert!(join_shards(other_load.iter()).unwrap_err().contains("different loads"));
    assert!(join_shards(std::iter::empty()).is_err());
    let error = join_shards(parts[..1].iter()).unwrap_err();
    assert!(error.contains("no run is of shard 2/2"), "{error}");
}

#[test]
fn a_shard_that_did_not_end_leaves_the_whole_incomplete() {
    let mut parts = parts(&whole(), 3);
    (parts[1].status, parts[1].reason) = (RunStatus::Incomplete, Some("interrupted".into()));
    let joined = join_shards(parts.iter()).unwrap();
    assert_eq!(joined.status, RunStatus::Incomplete);
    assert_eq!(joined.reason.as_deref(), Some("shard 2 of 3: interrupted"));
    assert_eq!(joined.shards[1].status, RunStatus::Incomplete);
    parts[1].status = RunStatus::Failed;
    parts[1].series[0].status = SeriesStatus::Failed;
    let joined = join_shards(parts.iter()).unwrap();
    assert_eq!(joined.status, RunStatus::Failed);
    assert!(joined.reason.unwrap().starts_with("1 of "));
}

#[test]
fn rounds_of_second_stages_are_kept_apart() {
    let mut parts = parts(&whole(), 2);
    for (part, rounds) in parts.iter_mut().zip([20, 31]) {
        let stage = Stage {
            number: 2,
            rounds,
            series: vec![part.series[0].id.clone()],
            why: "fresh rounds".into(),
        };
        part.stages.push(stage);
    }
    let stages = join_shards(parts.iter()).unwrap().stages;
    let found: Vec<(u32, u32)> = stages.iter().map(|stage| (stage.number, stage.rounds)).collect();
    assert_eq!(found, [(1, 12), (2, 20), (2, 31)]);
}
