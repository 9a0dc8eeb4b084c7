//! How long a server must burn CPU in each request to be slower by a given share: measured first, series by series.

use std::collections::BTreeMap;

use crate::command::lineup::Entry;
use crate::command::recorder::Recorder;
use crate::command::session::{Session, Setup, StageTime};
use crate::measure::side::Side;
use crate::record::metric::Metric;
use crate::record::run::{Stage, Variant};
use crate::stats::quantile::median;

/// Rounds that say what a request costs.
const ROUNDS: u32 = 5;

/// CPU time to burn in each request, ns, by series id; nothing for equal code. The rounds measured for it are not kept.
pub(super) fn burns(
    setup: &Setup,
    sides: &[Side],
    recorder: &Recorder,
    worse: f64,
) -> anyhow::Result<BTreeMap<String, u64>> {
    if worse <= 0.0 {
        return Ok(BTreeMap::new());
    }
    eprintln!(
        "measuring what a request costs, to slow the candidate down by {} %",
        worse * 100.0
    );
    let folder = tempfile::tempdir()?;
    let alone: Vec<Entry> = setup.entries.iter().map(candidate_alone).collect();
    let mut session = Session::new(
        Setup {
            sides,
            entries: &alone,
            ..*setup
        },
        recorder.elsewhere(folder.path()),
    );
    let stage = Stage {
        number: 1,
        rounds: ROUNDS,
        series: setup.series.iter().map(|series| series.id.clone()).collect(),
        why: "what a request costs".into(),
    };
    session.stage(&stage, StageTime::default())?;
    let measured = session.finish()?;
    let cost = |values: Vec<f64>| median(&values).map(|ns| nanos(ns * worse));
    Ok((measured.run.series.iter())
        .filter_map(|series| {
            let values = series
                .rounds
                .iter()
                .filter_map(|round| Metric::ServerCpu.comparable(round));
            Some((series.id.clone(), cost(values.collect())?))
        })
        .collect())
}

/// Makes the candidate burn.
pub(super) fn slow_down(sides: &mut [Side], recorder: &mut Recorder, burns: &BTreeMap<String, u64>) {
    for (id, ns) in burns {
        eprintln!("{id}: the candidate burns {ns} ns in each request");
        for side in sides
            .iter_mut()
            .filter(|side| side.revision.variant == Variant::Candidate)
        {
            let flag = vec!["--burn-ns".to_owned(), ns.to_string()];
            side.extra_args.insert(id.clone(), flag);
        }
        for series in recorder.run.series.iter_mut().filter(|series| series.id == *id) {
            series.injected_burn_ns = Some(*ns);
        }
    }
}

fn candidate_alone(entry: &Entry) -> Entry {
    Entry {
        variants: entry
            .variants
            .iter()
            .copied()
            .filter(|v| *v == Variant::Candidate)
            .collect(),
        ..entry.clone()
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a request's CPU time, positive and far below 2^53 ns"
)]
fn nanos(ns: f64) -> u64 {
    ns.round() as u64
}
