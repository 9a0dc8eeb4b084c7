//! Runs that pages are tried with. For tests.

use std::collections::BTreeMap;

use crate::site::frame::{Input, Site};
use crate::site::preview::Previews;
use wirebench_history::follow::FollowedHistory;
use wirebench_record::counts::{CountStatus, Counts, Figure, FunctionCost, Source};
use wirebench_record::history::Facts;
use wirebench_record::metric::Metric;
use wirebench_record::run::{RoundStatus, Run, Series, Shard, Variant, VariantRevision};
use wirebench_record::trend::{Basis, Push, SCHEMA, Segment, Trace, Trend, TrendMethod};

/// What would act if it stood on a page unescaped.
pub(super) const NASTY: &str = "</title></style><script>alert(1)</script>\"><img src=x onerror=alert(1)>' {{x}}";

/// The committed reference run.
pub(super) fn reference() -> Run {
    serde_json::from_str(include_str!("../../../../results/reference/run.json")).unwrap()
}

/// The site that pages belong to.
pub(super) fn site() -> Site<'static> {
    let followed = FollowedHistory {
        not_indexed: 0,
        facts: Facts::default(),
        trend: trend(),
        timelines: Vec::new(),
        values: Vec::new(),
    };
    let input = Input {
        followed: Box::leak(Box::new(followed)),
        runs: &[],
        more: &[],
        releases: &[],
        title: "octo/weather".into(),
        repository: Some("octo/weather".into()),
        now: "2026-11-21T17:24:00Z".parse().unwrap(),
        untested: None,
        gnuplot: None,
    };
    let nav = vec![("Overview", "index.html")];
    Site {
        freshness: "The newest run is 2 hours old.".into(),
        ..Site::of(Box::leak(Box::new(input)), &[], nav, Previews::default())
    }
}

/// A trend of two series: one with a resolution in its newest segment of 1.25 %, one of 7.5 %.
pub(super) fn trend() -> Trend {
    let push = || Push {
        run: None,
        commit: "3f9d2c71a0b8".into(),
        at: None,
        message: None,
        author: None,
    };
    let segment = |resolvable| Segment {
        broken_by: None,
        basis: Basis::Ratio,
        noise: None,
        first: push(),
        last: push(),
        places: (0, 39),
        points: 40,
        level: 1.0,
        resolvable_percent: resolvable,
        change_points: Vec::new(),
    };
    let trace = |series: &str, metric, resolvable| Trace {
        source: "runs".into(),
        series: series.into(),
        metric: Some(metric),
        unit: "ns".into(),
        better: None,
        basis: Basis::Ratio,
        points: 40,
        left_out: 0,
        not_judged: None,
        stopped: false,
        newest: None,
        segments: vec![segment(Some(99.0)), segment(resolvable)],
    };
    Trend {
        schema: SCHEMA.into(),
        runs: 40,
        method: TrendMethod {
            window: 30,
            least_after: 5,
            p: 0.0001,
            smallest_step_percent: 1.0,
            newest: 5,
        },
        skipped: vec!["runs/2026/11/x.json: is cut off".into()],
        alerts: 0,
        open: 0,
        recent_alerts: 0,
        groups: Vec::new(),
        traces: vec![
            trace("quiet@http@hey", Metric::ServerCpu, Some(1.25)),
            trace("noisy@http@hey", Metric::ServerCpu, Some(7.5)),
            trace("noisy@http@hey", Metric::LatencyP50, None),
        ],
    }
}

/// Makes one round of the fifth series invalid, one failed, one dropped.
pub(super) fn spoil(run: &mut Run) {
    let rounds = &mut run.series[4].rounds;
    rounds[0].status = RoundStatus::Invalid;
    rounds[0].reason = Some("3 of 100,000 answers had status 503".into());
    rounds[1] = wirebench_record::run::Round::unmeasured(Variant::Candidate, 1, rounds[1].position, 1);
    rounds[1].reason = Some("the server did not become ready within 10 s".into());
    rounds[2].dropped = Some("the hypervisor took 12 % of the CPU time".into());
}

/// Adds a baseline: every timed round once more, a little quicker.
pub(super) fn with_baseline(run: &mut Run) {
    run.variants.push(VariantRevision {
        variant: Variant::Baseline,
        commit: Some("3f9d2c71a0b83f9d2c71a0b83f9d2c71a0b83f9d".into()),
        modified: Some(false),
        name: Some("main".into()),
        committed_at: None,
    });
    for series in &mut run.series {
        let earlier = series.rounds.clone().into_iter().map(|mut round| {
            round.variant = Variant::Baseline;
            round.elapsed_ns = round.elapsed_ns.map(|ns| ns - ns / 20);
            round
        });
        series.rounds.extend(earlier.collect::<Vec<_>>());
    }
}

/// Adds a counted series of the first HTTP server.
pub(super) fn with_counts(run: &mut Run) {
    let mut series = run.series[8].clone();
    (series.id, series.scenario) = ("count-weather@http@hey".into(), "count-weather".into());
    series.load.counted = Some(600);
    series.rounds.clear();
    let figure = |metric, value: Option<f64>, spread| Figure {
        metric,
        value,
        spread,
        refused: value.is_none().then(|| "spread 3 % is above 0.5 %".into()),
        by_layout: Vec::new(),
        points: Vec::new(),
    };
    let mut counts = Counts::without(Variant::Candidate, CountStatus::Partial, String::new());
    counts.reason = Some("one figure was refused".into());
    counts.remarks = vec!["no symbols".into()];
    counts.figures = vec![
        figure(Metric::Instructions, Some(16_148.2), Some(12.1)),
        figure(Metric::Allocations, None, None),
        figure(Metric::Syscalls, Some(4.0), Some(0.0)),
        figure(Metric::WireBytesSent, Some(163.0), Some(0.0)),
        figure(Metric::WireBytesReceived, Some(98.0), Some(0.0)),
    ];
    counts.syscalls = BTreeMap::from([
        ("epoll_wait".into(), 1.0),
        ("writev".into(), 1.0),
        ("recvfrom".into(), 2.0),
    ]);
    counts.functions = (0..12)
        .map(|place| FunctionCost {
            function: format!("hyper::proto::part_{place}<T>"),
            metric: Metric::Instructions,
            cost: 4_000.0 / f64::from(place + 1),
            inclusive: None,
            blamed: None,
            calls: None,
            source: None,
        })
        .collect();
    series.counts = vec![counts];
    run.series.push(series);
}

/// Makes the run one of two machines: the second one measured what is chosen.
pub(super) fn part(run: &mut Run, second: impl Fn(&Series) -> bool) {
    let shard = |number: u8, chosen: bool| Shard {
        run: format!("20261121T051047Z-00000{number}"),
        status: run.status,
        reason: None,
        started_at: run.started_at.clone(),
        finished_at: run.finished_at.clone(),
        spent: run.spent,
        seed: number.into(),
        host: run.host.clone(),
        pinning: run.pinning.clone(),
        tools: run.tools.clone(),
        series: (run.series.iter().filter(|series| second(series) == chosen))
            .map(|series| series.id.clone())
            .collect(),
    };
    run.shards = vec![shard(1, false), shard(2, true)];
}

/// Puts what would act into every text of a run that a stranger may choose.
pub(super) fn poison(run: &mut Run) {
    let nasty = || NASTY.to_owned();
    run.profile = nasty();
    run.trigger = nasty();
    run.reason = Some(nasty());
    run.started_at = nasty();
    run.repeat = format!("wirebench run '{}'", NASTY.replace('\'', ""));
    run.host.cpu_model = Some(nasty());
    run.host.kernel = nasty();
    run.host.image = Some(nasty());
    run.host.fingerprint = nasty();
    for tool in &mut run.tools {
        (tool.name, tool.version) = (nasty(), nasty());
    }
    run.shards = vec![Shard {
        run: nasty(),
        status: run.status,
        reason: Some(nasty()),
        started_at: nasty(),
        finished_at: nasty(),
        spent: run.spent,
        seed: 1,
        host: run.host.clone(),
        pinning: run.pinning.clone(),
        tools: run.tools.clone(),
        series: run.series.iter().map(|_| nasty()).collect(),
    }];
    for revision in &mut run.variants {
        (revision.commit, revision.name) = (Some(nasty()), Some(nasty()));
    }
    for series in &mut run.series {
        series.id = nasty();
        series.scenario = format!("{NASTY} {}", series.scenario);
        series.server = format!("{NASTY} {}", series.server);
        series.driver = format!("{NASTY} {}", series.driver);
        series.protocol = format!(
            "{}{}",
            series.protocol,
            if series.protocol == "grpc" { "" } else { NASTY }
        );
        series.reason = Some(nasty());
        series.digest = nasty();
        series.command = vec![nasty()];
        for round in &mut series.rounds {
            round.reason = Some(nasty());
            round.errors = BTreeMap::from([(nasty(), 3)]);
        }
        for counts in &mut series.counts {
            counts.reason = Some(nasty());
            counts.remarks = vec![nasty()];
            counts.syscalls = BTreeMap::from([(nasty(), 1.0)]);
            counts.functions.iter_mut().for_each(|cost| {
                cost.function = nasty();
                cost.source = Some(Source::at(nasty(), 7));
            });
            counts
                .figures
                .iter_mut()
                .for_each(|figure| figure.refused = Some(nasty()));
        }
    }
    if let Some(round) = run.series.iter_mut().find_map(|series| series.rounds.first_mut()) {
        round.status = RoundStatus::Invalid;
    }
}

/// Whether a page is sound although a stranger's text stands on it.
pub(super) fn assert_inert(page: &str) {
    crate::site::well_formed::check(page).unwrap();
    assert!(page.contains("alert(1)"), "the text itself is shown");
    for acting in ["<script>alert", "<img src", "</title></style>"] {
        assert!(!page.contains(acting), "{acting} in the page");
    }
}
