//! The runs of the newest month: most measure one revision, some compare it with an earlier push.

use std::time::Duration;

use jiff::SignedDuration;
use wirebench_declare::compare::{Compare, Margins};
use wirebench_judge::compare::{Rules, Time, pair_costs, second_stage};
use wirebench_record::accepted::Accepted;
use wirebench_record::run::{
    Pinning, Round, RoundStatus, Run, RunStatus, SCHEMA, Series, SeriesStatus, Spent, Stage, ToolVersion, Variant,
    VariantRevision,
};

use super::chance::Chance;
use super::counted;
use super::levels::Kind;
use super::mishaps::{disturbed, spoil};
use super::pushes::{COUNT, FIRST_WHOLE, Push, Pushes, RELEASES, commit};
use super::rounds::{Pair, Slot};
use super::series::{self, Made};

/// The tools of a run, and their versions.
const TOOLS: [(&str, &str); 6] = [
    ("ghz", "v0.121.0"),
    ("h2load", "1.52"),
    ("hey", "v0.1.5"),
    ("hyperfine", "1.18"),
    ("jq", "1.7"),
    ("valgrind", "3.22"),
];
/// The time for a second stage.
const BUDGET: Duration = Duration::from_secs(150);

/// The plan of a run.
struct Plan<'a> {
    push: &'a Push,
    pushes: &'a Pushes,
    /// The push that it is compared with.
    baseline: Option<usize>,
    rounds: u32,
}

/// Every run of the newest month, in order.
pub(super) fn all(pushes: &Pushes) -> anyhow::Result<Vec<Run>> {
    (FIRST_WHOLE..COUNT)
        .map(|place| {
            let baseline = match place {
                252 | 254 | 258 => Some(place - 1),
                256 => Some(RELEASES[4].0),
                _ => None,
            };
            let plan = Plan {
                push: &pushes.0[place],
                pushes,
                baseline,
                rounds: if baseline.is_some() { 10 } else { 6 },
            };
            plan.run()
        })
        .collect()
}

impl Plan<'_> {
    fn run(&self) -> anyhow::Result<Run> {
        let place = self.push.place;
        let series: Vec<Made> = (series::all().into_iter())
            .filter(|made| (made.from..=made.to).contains(&place))
            .collect();
        let mut run = self.empty(series.iter().map(|made| self.series(made)).collect());
        let mut session = Session {
            plan: self,
            series: &series,
            chance: Chance::of(&format!("rounds {place}")),
            position: 0,
        };
        let timed = (0..series.len()).filter(|one| !matches!(series[*one].kind, Kind::Counted(_)));
        let (late, timed): (Vec<usize>, Vec<usize>) = timed.partition(|one| series[*one].is_sweep_or_search());
        let extra = |one: &usize| (0..self.rounds).any(|number| disturbed(&series[*one].id(), place, number));
        session.stage(&mut run, 1, self.rounds, &timed);
        let again: Vec<usize> = timed.iter().copied().filter(extra).collect();
        session.pass(&mut run, 1, self.rounds, &again);
        // These have random numbers of their own, so that the other series do not depend on them.
        let chance = std::mem::replace(&mut session.chance, Chance::of(&format!("loads {place}")));
        session.stage(&mut run, 1, self.rounds, &late);
        session.chance = chance;
        spent(&mut run);
        if self.baseline.is_some() {
            let ids = |places: &[usize]| places.iter().map(|one| series[*one].id()).collect();
            run.stages.push(Stage {
                number: 1,
                rounds: self.rounds,
                series: ids(&timed),
                why: format!(
                    "screen of every series ({}), {} rounds of each variant",
                    timed.len(),
                    self.rounds
                ),
            });
            let rules = Rules {
                compare: &Compare::default(),
                margins: &Margins::default(),
            };
            let time = Time {
                left: BUDGET,
                pair: pair_costs(&run),
            };
            if let Some(second) = second_stage(&run, &rules, &time) {
                session.stage(&mut run, 2, second.rounds, &second.series);
                spent(&mut run);
                run.stages.push(Stage {
                    number: 2,
                    rounds: second.rounds,
                    series: ids(&second.series),
                    why: second.why,
                });
            }
        }
        self.conclude(&mut run);
        Ok(run)
    }

    fn variants(&self) -> Vec<(Variant, usize)> {
        let baseline = self.baseline.map(|code| (Variant::Baseline, code));
        let others = [
            (Variant::Candidate, self.push.place),
            (Variant::Reference, self.push.reference()),
        ];
        baseline.into_iter().chain(others).collect()
    }

    fn empty(&self, series: Vec<Series>) -> Run {
        let revision = |(variant, code): (Variant, usize)| VariantRevision {
            variant,
            commit: Some(commit(code)),
            modified: Some(false),
            name: None,
            committed_at: Some(self.pushes.0[code].committed_at.to_string()),
        };
        let reference = RELEASES.iter().find(|(place, _)| *place == self.push.reference());
        let reference = reference.map_or("", |(_, name)| name);
        let baseline = self.baseline.map(|code| format!(" --baseline {}", commit(code)));
        let seed = u64::from(Chance::of(&format!("seed {}", self.push.place)).below(1_000_000));
        let tool = |(name, version): (&str, &str)| ToolVersion {
            name: name.into(),
            version: version.into(),
        };
        Run {
            schema: SCHEMA.into(),
            id: self.push.run_id(),
            trigger: if self.push.place == 256 {
                "workflow_dispatch"
            } else {
                "push"
            }
            .into(),
            profile: "quick".into(),
            status: RunStatus::Complete,
            reason: None,
            started_at: self.push.started_at.to_string(),
            finished_at: self.push.started_at.to_string(),
            spent: Spent::default(),
            seed,
            rounds_planned: self.rounds,
            repeat: format!(
                "wirebench run{} --reference {reference} --profile quick --rounds {} --seed {seed}",
                baseline.unwrap_or_default(),
                self.rounds
            ),
            stages: Vec::new(),
            shards: Vec::new(),
            hosts: Vec::new(),
            dependencies: Vec::new(),
            accepted: self.accepted(),
            host: self.push.host(),
            pinning: Pinning {
                server_cores: vec![2],
                driver_cores: vec![3],
                unlocked: false,
            },
            tools: TOOLS.map(tool).into(),
            variants: self.variants().into_iter().map(revision).collect(),
            series,
        }
    }

    /// The acceptances since the baseline.
    fn accepted(&self) -> Vec<Accepted> {
        let since = self.baseline.unwrap_or(self.push.place - 1);
        let new = &self.pushes.0[since + 1..=self.push.place];
        new.iter().flat_map(Push::accepted).collect()
    }

    fn series(&self, made: &Made) -> Series {
        let place = self.push.place;
        let own = self.variants().into_iter();
        let counts = own
            .filter(|(variant, _)| *variant != Variant::Reference && matches!(made.kind, Kind::Counted(_)))
            .map(|(variant, code)| counted::counts(made, variant, code, place));
        Series {
            id: made.id(),
            scenario: made.scenario.into(),
            server: made.server.into(),
            driver: made.driver.into(),
            protocol: made.protocol.into(),
            load: made.load(place),
            digest: made.digest(place),
            command: made.command(place),
            status: SeriesStatus::Ok,
            reason: None,
            missing_in: None,
            same_program: false,
            limits: Vec::new(),
            baseline_digest: None,
            injected_burn_ns: None,
            counts: counts.collect(),
            rounds: Vec::new(),
        }
    }

    /// Sets the status of each series and of the run.
    fn conclude(&self, run: &mut Run) {
        let variants = self.variants();
        for series in &mut run.series {
            let of_counts = series.counts.iter().find_map(|counts| counts.reason.clone());
            let named = |variant: Variant, why: String| format!("{}: {why}", variant.name());
            let of_rounds = variants.iter().find_map(|(variant, _)| {
                let (good, why) = good(series, *variant)?;
                let partial = format!("{good} of {} rounds good; {why}", self.rounds);
                Some((good == 0, named(*variant, if good == 0 { why } else { partial })))
            });
            (series.status, series.reason) = match (of_counts, of_rounds) {
                (Some(why), _) => (SeriesStatus::Partial, Some(why)),
                (None, Some((true, why))) => (SeriesStatus::Failed, Some(why)),
                (None, Some((false, why))) => (SeriesStatus::Partial, Some(why)),
                (None, None) => (SeriesStatus::Ok, None),
            };
        }
        let failed = run
            .series
            .iter()
            .filter(|one| one.status == SeriesStatus::Failed)
            .count();
        if failed > 0 {
            run.status = RunStatus::Failed;
            run.reason = Some(format!("{failed} of {} series failed", run.series.len()));
        }
        let took = SignedDuration::from_nanos(i64::try_from(run.spent.measure_ns + run.spent.build_ns).unwrap_or(0));
        run.finished_at = (self.push.started_at + took).to_string();
    }
}

/// The number of ok rounds of a variant, and why the others are not; `None` if all are ok.
fn good(series: &Series, variant: Variant) -> Option<(usize, String)> {
    let rounds = || series.rounds.iter().filter(|round| round.variant == variant);
    let why = rounds().find_map(|round| round.reason.clone())?;
    let usable = |round: &&Round| round.status == RoundStatus::Ok && round.dropped.is_none();
    Some((rounds().filter(usable).count(), why))
}

/// Makes the rounds of a run.
struct Session<'a> {
    plan: &'a Plan<'a>,
    series: &'a [Made],
    chance: Chance,
    position: usize,
}

impl Session<'_> {
    /// Makes a number of rounds of some series; the numbers begin anew in each stage.
    fn stage(&mut self, run: &mut Run, stage: u32, rounds: u32, places: &[usize]) {
        for number in 0..rounds {
            self.pass(run, stage, number, places);
        }
    }

    /// Makes one round of some series in random order.
    fn pass(&mut self, run: &mut Run, stage: u32, number: u32, places: &[usize]) {
        for place in self.chance.shuffled(places.to_vec()) {
            let made = &self.series[place];
            let pair = Pair {
                made,
                push: self.plan.push,
                moment: self.chance.factor(0.02),
            };
            let mut variants = self.plan.variants();
            if matches!(made.kind, Kind::Starts(_)) {
                variants.retain(|(variant, _)| *variant != Variant::Reference);
            }
            for (variant, code) in self.chance.shuffled(variants) {
                let slot = Slot {
                    variant,
                    code,
                    number,
                    position: self.position,
                    stage,
                };
                let mut round = pair.round(&slot, &mut self.chance);
                spoil(&made.id(), self.plan.push.place, &mut round);
                run.series[place].rounds.push(round);
                self.position += 1;
            }
        }
    }
}

/// Sets the time spent.
fn spent(run: &mut Run) {
    let rounds = || run.series.iter().flat_map(|series| &series.rounds);
    let count = u64::try_from(rounds().count()).unwrap_or(0);
    let load: u64 = rounds().filter_map(|round| round.elapsed_ns).sum::<u64>() + count * 200_000_000;
    let start: u64 = rounds().filter_map(|round| round.server_ready_ns).sum();
    run.spent = Spent {
        build_ns: 41_300_000_000,
        measure_ns: load + start + count * 31_000_000,
        calibrate_ns: 0,
        load_ns: load,
        start_ns: start,
        normalise_ns: count * 26_000_000,
        count_ns: 44_800_000_000,
    };
}
