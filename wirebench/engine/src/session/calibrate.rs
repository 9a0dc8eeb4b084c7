//! The CPU time that a server must burn in each request to be slower by a given share, measured for each series.

use std::collections::BTreeMap;

use crate::measure::kill_on_exit::TemporaryFolder;
use crate::measure::side::Side;
use crate::session::recorder::Recorder;
use crate::session::stage::{StageTime, measure_stage};
use crate::session::{Session, Setup};
use wirebench_declare::percent::Percent;
use wirebench_record::metric::Metric;
use wirebench_record::run::{Stage, Variant};
use wirebench_stats::quantile::median;

/// The rounds that measure the CPU time per request.
const ROUNDS: u32 = 5;

/// CPU time to burn in each request, ns, by series id; empty if the code is equal. The rounds measured for it are not recorded.
fn burns(setup: &Setup, recorder: &Recorder, worse: Percent) -> anyhow::Result<BTreeMap<String, u64>> {
    if worse.share() <= 0.0 {
        return Ok(BTreeMap::new());
    }
    log::info!("measuring what a request costs, to slow the candidate down by {worse}");
    let folder = TemporaryFolder::make("wirebench-")?;
    let mut alone = recorder.in_folder(folder.path());
    for variants in &mut alone.variants {
        variants.retain(|variant| *variant == Variant::Candidate);
    }
    let mut session = Session::new(*setup, alone);
    let stage = Stage {
        number: 1,
        rounds: ROUNDS,
        series: setup.series.iter().map(|series| series.id.clone()).collect(),
        why: "what a request costs".into(),
    };
    measure_stage(&mut session, &stage, StageTime::first(None), None)?;
    let measured = session.finish()?;
    let burn = |values: Vec<f64>| median(&values).map(|ns| nanos(ns * worse.share()));
    Ok((measured.run.series.iter())
        .filter_map(|series| {
            let values = series
                .rounds
                .iter()
                .filter_map(|round| Metric::ServerCpu.comparable(round));
            Some((series.id.clone(), burn(values.collect())?))
        })
        .collect())
}

/// For a self-test: the sides with a candidate that burns CPU time in each request; the record contains the amount.
pub(super) fn slowed_down(setup: &Setup, recorder: &mut Recorder, worse: Percent) -> anyhow::Result<Vec<Side>> {
    recorder.run.trigger = "selftest".into();
    let mut sides = setup.sides.to_vec();
    for (id, ns) in burns(setup, recorder, worse)? {
        log::info!("{id}: the candidate burns {ns} ns in each request");
        for side in (sides.iter_mut()).filter(|side| side.revision.variant == Variant::Candidate) {
            let flag = vec!["--burn-ns".to_owned(), ns.to_string()];
            side.extra_args.insert(id.clone(), flag);
        }
        for series in recorder.run.series.iter_mut().filter(|series| series.id == id) {
            series.injected_burn_ns = Some(ns);
        }
    }
    Ok(sides)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a request's CPU time, positive and far below 2^53 ns"
)]
fn nanos(ns: f64) -> u64 {
    ns.round() as u64
}
