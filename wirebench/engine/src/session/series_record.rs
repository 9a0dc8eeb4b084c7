//! The record of a planned series before its first round.

use crate::measure::values::recorded_command;
use wirebench_declare::load::{LoadStage, Rate};
use wirebench_declare::percent::Percent;
use wirebench_declare::plan::PlannedSeries;
use wirebench_declare::scenario::{Amount, Load};
use wirebench_declare::span::nanos;
use wirebench_record::run::{LoadRecord, SearchRecord, Series, SeriesStatus, StageRecord};

/// A planned series without measured values.
#[must_use]
pub fn unmeasured(series: &PlannedSeries) -> Series {
    Series {
        id: series.id.clone(),
        scenario: series.scenario.name.clone(),
        server: series.server.name.clone(),
        driver: series.driver.name.clone(),
        protocol: series.protocol.name().into(),
        load: load_record(&series.load),
        limits: series.scenario.limits.clone(),
        digest: series.digest.clone(),
        command: recorded_command(series),
        status: SeriesStatus::Incomplete,
        reason: None,
        missing_in: None,
        same_program: false,
        baseline_digest: None,
        injected_burn_ns: None,
        counts: Vec::new(),
        rounds: Vec::new(),
    }
}

fn load_record(load: &Load) -> LoadRecord {
    let (mut requests, mut duration_ns, mut starts, mut counted) = (None, None, None, None);
    let mut samples = None;
    let mut stages = Vec::new();
    match &load.amount {
        Amount::Requests(count) => requests = Some(*count),
        Amount::Duration(span) => duration_ns = Some(nanos(span.0)),
        Amount::Starts(count) => starts = Some(*count),
        Amount::Samples(count) => samples = Some(*count),
        Amount::Counted { many, .. } => counted = Some(*many),
        Amount::Stages(each) => {
            let stage = |one: &LoadStage| StageRecord {
                connections: one.connections,
                duration_ns: nanos(one.duration.0),
            };
            stages = each.iter().map(stage).collect();
        }
    }
    let (rate_per_s, rate_permille) = match load.rate {
        None => (None, None),
        Some(Rate::PerSecond(rate)) => (Some(rate), None),
        Some(Rate::OfCapacity(share)) => (None, Some(permille(share))),
    };
    let search = load.search.map(|search| SearchRecord {
        p99_ns: nanos(search.p99.0),
        from_per_s: search.from,
        to_per_s: search.to,
    });
    LoadRecord {
        connections: (!load.is_without_server()).then_some(load.connections),
        streams: (!load.is_without_server()).then_some(load.streams),
        requests,
        duration_ns,
        starts,
        samples,
        counted,
        rate_per_s,
        warmup_ns: load.warmup.map(|span| nanos(span.0)),
        warmup_requests: None,
        lengthened_to_ns: None,
        rate_permille,
        capacity_per_s: None,
        capacity_bound: None,
        stages,
        pause_ns: load.pause.map(|span| nanos(span.0)),
        search,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "declared shares of a capacity lie between 0 and 100 %"
)]
fn permille(share: Percent) -> u32 {
    (share.percent() * 10.0).round() as u32
}
