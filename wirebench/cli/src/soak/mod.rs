//! `wirebench soak`: one server under load for long, and whether its memory stays flat.

mod memory;
mod slices;

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Context as _;
use serde::Serialize;

use crate::lock::LockArgs;
use crate::selection::SelectionArgs;
use crate::{Outcome, UsageError};
use wirebench_declare::Project;
use wirebench_declare::load::{Amount, Load};
use wirebench_declare::percent::Percent;
use wirebench_declare::plan::rates::of_capacity;
use wirebench_declare::plan::{self, PlannedSeries, Selection, Slot};
use wirebench_declare::profiles::Profiles;
use wirebench_declare::scenario::Scenario;
use wirebench_declare::span::{Span, nanos};
use wirebench_engine::git;
use wirebench_engine::measure::build::Workshop;
use wirebench_engine::measure::cores::Cores;
use wirebench_engine::measure::held::Held;
use wirebench_engine::measure::interrupt::Interrupt;
use wirebench_engine::measure::side::Side;
use wirebench_engine::measure::slot::Measured;
use wirebench_engine::normalise::{self, Jq};
use wirebench_engine::session::{self, achieved, prepare};
use wirebench_present::report::format::{bytes, count, plain};
use wirebench_record::run::{Round, RoundStatus, Variant};

use self::memory::{Drift, FLAT_PERCENT, drift};

/// How long the capacity is measured.
const CAPACITY: Duration = Duration::from_secs(3);

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  wirebench soak --server http --operation weather
  wirebench soak --server grpc --operation weather --driver ghz --connections 1000 --length 30m --json
First the capacity is measured, in a closed loop of 3 s. Then a load generator that can keep a rate offers a share of it; any
other asks in a closed loop over that share of the connections. One process serves everything; its memory is read between
slices of 20 s at most. Exit code 1 when a request failed or a process grew by more than 5 %.")]
pub(super) struct Args {
    #[command(flatten)]
    lock: LockArgs,
    /// The server.
    #[arg(long)]
    server: String,
    /// The operation to request.
    #[arg(long)]
    operation: String,
    /// The driver; without it, one that can keep a rate, otherwise the first that fits.
    #[arg(long)]
    driver: Option<String>,
    /// Connections.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    connections: u32,
    /// Share of the capacity to offer.
    #[arg(long, default_value = "70%", value_name = "PERCENT")]
    share: Percent,
    /// How long, such as 10m.
    #[arg(long, default_value = "10m", value_name = "TIME")]
    length: Span,
    /// Prints one JSON object.
    #[arg(long)]
    json: bool,
}

/// What a soak found.
#[derive(Debug, Serialize)]
struct Soak {
    server: String,
    operation: String,
    driver: String,
    protocol: &'static str,
    connections: u32,
    /// Capacity: good responses per second in the closed loop before.
    capacity_per_s: u32,
    /// The offered rate; null in a closed loop.
    rate_per_s: Option<u32>,
    /// Good answers per second over all slices.
    achieved_per_s: f64,
    slices: u32,
    slice_ns: u64,
    /// Good answers and failures.
    requests: u64,
    failures: u64,
    errors: BTreeMap<String, u64>,
    /// Other failed checks of a round, by slice.
    remarks: Vec<String>,
    memory: Vec<Drift>,
    /// Whether every process grew by no more than 5 %.
    flat: bool,
}

pub(super) fn execute(project: &Project, args: &Args) -> anyhow::Result<Outcome> {
    if args.share.share() <= 0.0 || args.share.share() > 1.0 {
        return Err(UsageError(format!(
            "--share {}: expected more than 0% and at most 100%",
            args.share
        ))
        .into());
    }
    let own = Project {
        scenarios: vec![scenario(args)],
        ..project.clone()
    };
    let series = chosen(&own, args)?;
    let interrupt = Interrupt::watch()?;
    let _lock = session::locked(!args.lock.no_lock, &interrupt)?;
    let prepared = prepare::prepare(&own, std::slice::from_ref(&series), Cores::split(), interrupt)?;
    if let Some(reason) = prepared.broken_drivers.get(&series.driver.name) {
        anyhow::bail!("driver {}: {reason}", series.driver.name);
    }
    let (jq, _) = prepare::jq(&own)?;
    let mut side = Side::new(git::state(&own.root), own.root.clone(), &own.servers);
    let workshop = Workshop {
        folder: own.root.clone(),
        ..Workshop::default()
    };
    side.build([args.server.as_str()].into_iter(), &workshop);
    if let Some(reason) = side.broken.get(&args.server) {
        anyhow::bail!("server {}: {reason}", args.server);
    }
    let folder = tempfile::tempdir().context("no temporary folder can be made")?;
    let held = Held::start(&prepared.bench, &series, &side, folder.path().to_path_buf())?;
    let mut soaking = Soaking {
        held,
        jq: &jq,
        folder: folder.path(),
    };
    let soak = soaking.all(args, &series)?;
    soaking.held.stop()?;
    if args.json {
        println!("{}", serde_json::to_string(&soak)?);
    } else {
        soak.print();
    }
    let good = soak.failures == 0 && soak.flat;
    Ok(if good { Outcome::Done } else { Outcome::Failed })
}

/// The closed loop in which the capacity is measured.
fn scenario(args: &Args) -> Scenario {
    Scenario {
        name: "soak".into(),
        about: String::new(),
        profiles: Profiles::all(),
        whole: true,
        operation: args.operation.clone(),
        load: Load::closed(args.connections, Amount::Duration(Span(CAPACITY.min(args.length.0)))),
        protocols: None,
        drivers: None,
        limits: Vec::new(),
    }
}

/// The series to use: of several drivers, one that can keep a rate.
fn chosen<'a>(project: &'a Project, args: &Args) -> anyhow::Result<PlannedSeries<'a>> {
    let Some(server) = project.servers.iter().find(|server| server.name == args.server) else {
        let names: Vec<&str> = project.servers.iter().map(|server| &*server.name).collect();
        let message = format!(
            "--server {}: no such server; there are {}",
            args.server,
            names.join(", ")
        );
        return Err(UsageError(message).into());
    };
    if !server.operations.contains_key(&args.operation) {
        let names: Vec<&str> = server.operations.keys().map(String::as_str).collect();
        let message = format!(
            "--operation {}: server {} has no such operation; there are {}",
            args.operation,
            server.name,
            names.join(", ")
        );
        return Err(UsageError(message).into());
    }
    let (_, profile) = SelectionArgs::whole(None).profile(project)?;
    let selection = Selection {
        scenarios: vec!["soak".into()],
        servers: vec![args.server.clone()],
        drivers: args
            .driver
            .clone()
            .map_or_else(|| vec!["*".into()], |driver| vec![driver]),
    };
    let mut found = plan::series(project, profile, &selection)?;
    // The profile's caps are for rounds.
    for one in &mut found {
        one.load = one.scenario.load.clone();
    }
    found.sort_by_key(|one| !keeps_a_rate(one));
    found.into_iter().next().ok_or_else(|| plan::PlanError::Empty.into())
}

/// True if the driver supports both a rate and a closed loop.
fn keeps_a_rate(series: &PlannedSeries) -> bool {
    series.mode.takes(&series.load.at(1))
}

/// A soak while it runs.
struct Soaking<'a> {
    held: Held<'a>,
    jq: &'a Jq,
    folder: &'a std::path::Path,
}

impl Soaking<'_> {
    /// Measures the capacity, then slice after slice.
    fn all(&mut self, args: &Args, series: &PlannedSeries) -> anyhow::Result<Soak> {
        let (_, closed) = self.one(series)?;
        anyhow::ensure!(
            closed.status != RoundStatus::Failed && closed.ok_count > Some(0),
            "capacity: {}",
            closed.reason.unwrap_or_default()
        );
        let capacity_per_s = achieved(&closed).unwrap_or(0);
        let mut load = series.load.clone();
        let mut most_per_s = capacity_per_s;
        let mut rate_per_s = None;
        if keeps_a_rate(series) {
            most_per_s = of_capacity(capacity_per_s, args.share);
            rate_per_s = Some(most_per_s);
            load = load.at(most_per_s);
        } else {
            load.connections = of_capacity(args.connections, args.share);
        }
        let (slices, slice) = slices::of(args.length.0, most_per_s);
        load.amount = Amount::Duration(Span(slice));
        let series = PlannedSeries { load, ..series.clone() };
        let mut soak = Soak {
            server: args.server.clone(),
            operation: args.operation.clone(),
            driver: series.driver.name.clone(),
            protocol: series.protocol.name(),
            connections: series.load.connections,
            capacity_per_s,
            rate_per_s,
            achieved_per_s: 0.0,
            slices,
            slice_ns: nanos(slice),
            requests: 0,
            failures: 0,
            errors: BTreeMap::new(),
            remarks: Vec::new(),
            memory: Vec::new(),
            flat: false,
        };
        let mut readings: Vec<(String, Vec<u64>)> = Vec::new();
        let mut elapsed_ns = 0;
        for number in 1..=slices {
            let (_, round) = self
                .one(&series)
                .with_context(|| format!("slice {number} of {slices}"))?;
            elapsed_ns += round.elapsed_ns.unwrap_or_default();
            soak.add(number, &round);
            for (place, (name, rss)) in self.held.rss().into_iter().enumerate() {
                if readings.len() <= place {
                    readings.push((name, Vec::new()));
                }
                readings[place].1.extend(rss);
            }
            log::info!("{}", soak.so_far(number, &readings));
        }
        soak.achieved_per_s = rate(soak.requests - soak.failures, elapsed_ns);
        soak.memory = readings.iter().filter_map(|(name, list)| drift(name, list)).collect();
        soak.flat = soak.memory.len() == readings.len() && soak.memory.iter().all(|one| one.flat);
        Ok(soak)
    }

    /// Runs one load, reads its output and checks it.
    fn one(&mut self, series: &PlannedSeries) -> anyhow::Result<(Measured, Round)> {
        let slot = Slot {
            position: 0,
            round: 0,
            series: 0,
            variant: Variant::Candidate,
            stage: 1,
        };
        let measured = self.held.load(series)?;
        let round = normalise::round(self.jq, series, slot, &measured, self.folder);
        Ok((measured, round))
    }
}

/// Good answers per second.
#[expect(clippy::cast_precision_loss, reason = "counts and times stay far below 2^53")]
fn rate(answers: u64, elapsed_ns: u64) -> f64 {
    if elapsed_ns == 0 {
        return 0.0;
    }
    answers as f64 / (elapsed_ns as f64 / 1e9)
}

impl Soak {
    /// Adds a slice.
    fn add(&mut self, number: u32, round: &Round) {
        let failed = round.failed_count.unwrap_or(0);
        self.requests += round.ok_count.unwrap_or(0) + failed;
        self.failures += failed;
        for (kind, times) in &round.errors {
            *self.errors.entry(kind.clone()).or_default() += times;
        }
        // A slice whose output cannot be read counts as a failure.
        if round.status == RoundStatus::Failed {
            self.failures += 1;
            self.requests += 1;
        }
        let reason = round.reason.as_ref().filter(|_| failed == 0);
        self.remarks
            .extend(reason.map(|reason| format!("slice {number}: {reason}")));
    }

    #[expect(clippy::cast_precision_loss, reason = "counts and sizes stay far below 2^53")]
    fn so_far(&self, number: u32, readings: &[(String, Vec<u64>)]) -> String {
        let sizes = readings.iter().filter_map(|(name, list)| {
            let last = bytes(*list.last()? as f64);
            Some(format!("{} {last}", plain(name)))
        });
        format!(
            "slice {number} of {}: {} requests, {} failed, memory {}",
            self.slices,
            count(self.requests as f64),
            self.failures,
            sizes.collect::<Vec<_>>().join(", ")
        )
    }

    #[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
    fn print(&self) {
        let offered = self.rate_per_s.map_or_else(
            || "closed loop".into(),
            |rate| format!("open loop at {} requests/s", count(f64::from(rate))),
        );
        println!(
            "{} · {} by {}: {offered} over {} connections, {} slices of {}; capacity {} requests/s",
            self.server,
            self.operation,
            self.driver,
            self.connections,
            self.slices,
            Span(Duration::from_nanos(self.slice_ns)).as_flag(),
            count(f64::from(self.capacity_per_s))
        );
        println!(
            "{} requests, {} failed, {} good answers/s",
            count(self.requests as f64),
            count(self.failures as f64),
            count(self.achieved_per_s)
        );
        for (kind, times) in &self.errors {
            println!("  {times} × {}", plain(kind));
        }
        for remark in &self.remarks {
            println!("  {}", plain(remark));
        }
        for one in &self.memory {
            println!(
                "{}: {} in the first quarter, {} in the last ({:+.1} %)",
                plain(&one.process),
                bytes(one.first_quarter_bytes),
                bytes(one.last_quarter_bytes),
                one.drift_percent
            );
        }
        let verdict = match (self.flat, self.memory.is_empty()) {
            (true, _) => format!("flat: no process grew by more than {FLAT_PERCENT} %"),
            (false, true) => "memory could not be read often enough to say anything; make --length longer".into(),
            (false, false) => format!("not flat: a process grew by more than {FLAT_PERCENT} %"),
        };
        println!("{verdict}");
    }
}
