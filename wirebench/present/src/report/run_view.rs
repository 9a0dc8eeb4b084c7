//! Sentences and facts of a run, decided once for terminal, Markdown and pages.

use crate::report::counts;
use crate::report::escape::{Escape, code, prose};
use crate::report::format::{machine, other_hosts, time};
use crate::report::status;
use wirebench_judge::summary::harness_share;
use wirebench_record::run::{Host, Pinning, Run, RunStatus, Series, SeriesStatus};

/// The result of a run in which nothing was measured.
const UNMEASURED: &str = "Nothing was measured: every server is the same program on both sides. --measure-identical measures them all the same.";

/// Whether nothing was measured because every server is the same program on both sides: the tables would be empty.
/// With a reference, candidate and reference are measured all the same.
pub(super) fn is_unmeasured(run: &Run) -> bool {
    let is_empty = |series: &Series| series.same_program && series.rounds.is_empty() && series.counts.is_empty();
    !run.series.is_empty() && run.series.iter().all(is_empty)
}

fn timed(run: &Run) -> impl Iterator<Item = &Series> {
    run.series.iter().filter(|series| !series.is_counted())
}

/// Timed series that are not good in every round, each with its reason.
pub(super) fn not_good(run: &Run, escape: Escape) -> Vec<[String; 2]> {
    let not_good = timed(run).filter(|series| series.status != SeriesStatus::Ok);
    let with_reason = |series: &Series| {
        let reason = series.reason.as_deref().unwrap_or("no reason recorded");
        [series.id.clone(), escape.sentence(reason)]
    };
    not_good.map(with_reason).collect()
}

/// How much of a run is good, as Markdown.
pub(super) fn headline(run: &Run) -> String {
    if is_unmeasured(run) {
        return UNMEASURED.to_owned();
    }
    let good = timed(run).filter(|series| series.status == SeriesStatus::Ok).count();
    let status = match status::of_run(run.status) {
        complete if run.status == RunStatus::Complete => complete.to_owned(),
        other => format!("**{other}**"),
    };
    let reason = run
        .reason
        .as_ref()
        .map_or(String::new(), |reason| format!(" ({})", prose(reason)));
    let counted = counts::tally(run).map_or(String::new(), |tally| format!(" {tally}."));
    format!(
        "{good} of {} series good in every round, {} rounds each, profile {}: {status}{reason}.{counted}",
        timed(run).count(),
        run.rounds_planned,
        code(&run.profile)
    )
}

/// How much of the run's time was load, and how much the harness took; `None` before anything was measured.
pub(crate) fn time_spent(run: &Run) -> Option<String> {
    let percent = harness_share(run)? * 100.0;
    let (load, measure) = (time(run.spent.load_ns as f64), time(run.spent.measure_ns as f64));
    Some(format!(
        "{load} of load in {measure}; {percent:.1} % of it went into probing, stopping and normalising"
    ))
}

/// The minutes that a run took on all its machines, by phase; checkouts and installations are not among them.
pub fn minutes(run: &Run) -> String {
    let spent = &run.spent;
    let minutes = |ns: u64| format!("{:.1}", ns as f64 / 60e9);
    let machines = match run.shards.len() {
        0 | 1 => "1 machine".to_owned(),
        all => format!("{all} machines together"),
    };
    format!(
        "Minutes of {machines}, without checkouts and installations: {} (builds {}, counting {}, load {}, other {}).",
        minutes(spent.build_ns + spent.count_ns + spent.measure_ns + spent.sample_ns),
        minutes(spent.build_ns),
        minutes(spent.count_ns),
        minutes(spent.load_ns),
        minutes(spent.measure_ns.saturating_sub(spent.load_ns)),
    )
}

/// The machine and its cores; of several machines each with what it measured. Each fact under its name.
pub(crate) fn machines(run: &Run, escape: Escape) -> Vec<(&'static str, String)> {
    if let Some(others) = other_hosts(run) {
        let (machine, both) = (escape.sentence(&machine(&run.host)), escape.name(&run.host.fingerprint));
        let driver = format!("driver on {machine}, fingerprint of both {both}");
        return vec![("machine", driver), ("hosts", escape.sentence(&others))];
    }
    if run.shards.is_empty() {
        return vec![("machine", host(&run.host, escape)), ("cores", pinning(&run.pinning))];
    }
    let all = run.shards.len();
    let how = format!("measured on {all} machines at once, each series on one of them: compare rows of one machine");
    let mut facts = vec![("machines", how)];
    facts.extend((1..).zip(&run.shards).map(|(number, shard)| {
        let series: Vec<String> = shard.series.iter().map(|id| escape.name(id)).collect();
        let series = if series.is_empty() {
            "no series".into()
        } else {
            series.join(", ")
        };
        let fact = format!(
            "shard {number} of {all}, run {}, seed {}: {}; {}; {series}",
            escape.name(&shard.run),
            shard.seed,
            host(&shard.host, escape),
            pinning(&shard.pinning)
        );
        ("shard", fact)
    }));
    facts
}

/// A machine and its fingerprint.
pub(crate) fn host(host: &Host, escape: Escape) -> String {
    let (machine, fingerprint) = (escape.sentence(&machine(host)), escape.name(&host.fingerprint));
    format!("{machine}, fingerprint {fingerprint}")
}

fn pinning(pinning: &Pinning) -> String {
    let list = |cores: &[usize]| cores.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let (server, driver) = (list(&pinning.server_cores), list(&pinning.driver_cores));
    let cores = if pinning.server_cores.is_empty() {
        "server and driver share all cores".into()
    } else {
        format!("server on core {server}, driver on core {driver}")
    };
    let unlocked = if pinning.unlocked {
        "; without the machine's lock: another measurement may have run beside it"
    } else {
        ""
    };
    cores + unlocked
}
