//! A run as it is shown: its sentences and tables, decided once for terminal and Markdown; pages use the same facts.

use crate::report::charts::Chart;
use crate::report::counts::CountsView;
use crate::report::escape::{Escape, code, prose};
use crate::report::format::{machine, other_hosts, time};
use crate::report::head_to_head;
use crate::report::scenario::ScenarioView;
use crate::report::status;
use crate::report::table::Table;
use wirebench_judge::limits::judge;
use wirebench_judge::summary::{harness_share, sections};
use wirebench_record::limit::JudgedLimit;
use wirebench_record::run::{Host, Pinning, Run, RunStatus, Series, SeriesStatus};

/// A run's text and tables.
#[derive(Debug)]
pub(super) struct RunView<'a> {
    pub(super) id: &'a str,
    /// How much is good, as Markdown.
    pub(super) headline: String,
    /// Whether nothing was measured because every server is the same program on both sides: its tables would be empty.
    pub(super) is_unmeasured: bool,
    /// Timed series that are not good in every round, each with its reason.
    pub(super) not_good: Vec<[String; 2]>,
    pub(super) scenarios: Vec<ScenarioView<'a>>,
    /// The tables of all scenarios in one.
    pub(super) head_to_head: Table,
    pub(super) counts: CountsView,
    pub(super) limits: Vec<JudgedLimit>,
    /// The other machines of the run and the network to them, for a terminal.
    pub(super) other_hosts: Option<String>,
}

impl<'a> RunView<'a> {
    /// The reasons and remarks of the record are escaped for the medium.
    pub(super) fn of(run: &'a Run, charts: &'a [Chart], escape: Escape) -> Self {
        let sections = sections(run);
        let counts = CountsView::of(run, escape);
        let is_unmeasured = is_unmeasured(run);
        Self {
            id: &run.id,
            headline: if is_unmeasured {
                UNMEASURED.to_owned()
            } else {
                headline(run, &counts)
            },
            is_unmeasured,
            not_good: timed(run)
                .filter(|series| series.status != SeriesStatus::Ok)
                .map(|series| {
                    let reason = series.reason.as_deref().unwrap_or("no reason recorded");
                    [series.id.clone(), escape.sentence(reason)]
                })
                .collect(),
            scenarios: sections
                .iter()
                .map(|section| ScenarioView::of(section, charts))
                .collect(),
            head_to_head: head_to_head::table(&sections),
            counts,
            limits: judge(run),
            other_hosts: other_hosts(run),
        }
    }
}

/// The result of a run in which nothing was measured.
const UNMEASURED: &str = "Nothing was measured: every server is the same program on both sides. --measure-identical measures them all the same.";

/// With a reference, candidate and reference are measured all the same.
fn is_unmeasured(run: &Run) -> bool {
    let is_empty = |series: &Series| series.same_program && series.rounds.is_empty() && series.counts.is_empty();
    !run.series.is_empty() && run.series.iter().all(is_empty)
}

fn timed(run: &Run) -> impl Iterator<Item = &Series> {
    run.series.iter().filter(|series| !series.is_counted())
}

fn headline(run: &Run, counts: &CountsView) -> String {
    let good = timed(run).filter(|series| series.status == SeriesStatus::Ok).count();
    let status = match status::of_run(run.status) {
        complete if run.status == RunStatus::Complete => complete.to_owned(),
        other => format!("**{other}**"),
    };
    let reason = run
        .reason
        .as_ref()
        .map_or(String::new(), |reason| format!(" ({})", prose(reason)));
    let counted = counts
        .tally
        .as_ref()
        .map_or(String::new(), |tally| format!(" {tally}."));
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
    let fingerprint = |host: &Host| escape.name(&host.fingerprint);
    let machine = |host: &Host| escape.sentence(&machine(host));
    let host = |host: &Host| format!("{}, fingerprint {}", machine(host), fingerprint(host));
    if let Some(others) = other_hosts(run) {
        let (machine, both) = (machine(&run.host), fingerprint(&run.host));
        let driver = format!("driver on {machine}, fingerprint of both {both}");
        return vec![("machine", driver), ("hosts", escape.sentence(&others))];
    }
    if run.shards.is_empty() {
        return vec![("machine", host(&run.host)), ("cores", pinning(&run.pinning))];
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
            host(&shard.host),
            pinning(&shard.pinning)
        );
        ("shard", fact)
    }));
    facts
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
