//! Samples where both sides of a series spend CPU time, or wait, function by function, in rounds of their own: perf stops a server
//! many times a second, so that rounds under it are no measurement of its speed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use log::Level;
use regex::Regex;

use crate::count::profile::Tree;
use crate::count::profile::perf::{NO_SYMBOL, PerfReader, SampledFunction};
use crate::count::program;
use crate::count::work;
use crate::measure::error::{MeasureError, written};
use crate::measure::process::Ending;
use crate::measure::tools;
use crate::normalise;
use crate::session::Session;
use wirebench_declare::plan::{Slot, Stretch, pairs};
use wirebench_declare::span::nanos;
use wirebench_record::counts::Source;
use wirebench_record::metric::Metric;
use wirebench_record::run::{RoundStatus, Sampled, SampledFunction as Recorded, SampledSides, Variant};

const SIDES: [Variant; 2] = [Variant::Baseline, Variant::Candidate];
/// Good pairs of rounds of a series.
const PAIRS: usize = 8;
/// Pairs without which no function can be told from chance.
const NEEDED: u32 = 7;
/// More pairs that may be measured instead of failed ones.
const SPARE: usize = 4;
/// After this time no new pair of a series begins.
const AT_MOST: Duration = Duration::from_secs(120);
/// CPU time, samples per second: a prime, so that they keep no step with timers.
const CPU_EVENTS: &str = "-e cpu-clock -F 997";
/// Waiting: each switch away from a thread, and each switch back.
const SWITCH_EVENTS: &str = "-e context-switches -c 1 --switch-events";
/// A copy of the top of the stack, B: of one that runs, and of one that waits, which is in few calls.
const STACKS: [&str; 2] = ["dwarf,16384", "dwarf,4096"];
/// Go's programs have frame pointers.
const GO_STACKS: &str = "fp";
/// Functions with a smaller share on both sides are not recorded.
const LEAST_SHARE: f64 = 0.005;
/// How long a server may take to end after SIGTERM, when a JVM writes its map, and perf after it.
const END_TIMEOUT: Duration = Duration::from_secs(10);
/// The number of the stage, which selects the order of its rounds: after the two of the comparison.
const STAGE: u32 = 3;

/// Why there is nothing to name after the first pair.
const NO_OWN_FUNCTION: &str = "perf sees none of the project's own: an interpreter without frame pointers (Python), \
    or a program without debug information";

const GO_PARKS: &str = "Go's scheduler parks goroutines, not threads: what they wait for is not seen";

const NO_WAIT: &str = "no thread waits in a call by one of the project's functions, only for its next task, \
    or perf may not see it: that takes root, or kernel.perf_event_paranoid of at most 1";

/// One round.
#[derive(Default)]
struct SampledRound {
    /// ns per request, of each function by line.
    time: BTreeMap<SampledFunction, BTreeMap<u32, f64>>,
    /// ns per request, of each call stack.
    stacks: BTreeMap<String, f64>,
    /// ns per request: the CPU time of all functions, or the latency that holds all waiting.
    whole: f64,
}

impl Session<'_> {
    /// Samples the series with these indices, and records the functions of both sides: those that take CPU time
    /// ([`Metric::ServerCpu`]), or those that wait ([`Metric::LatencyP50`]). What cannot be sampled is told.
    pub(super) fn sample(&mut self, series: &[(usize, Metric)]) {
        let harness = &self.setup.prepared.harness;
        if series.is_empty() || harness.host.is_some() || harness.driver_host.is_some() {
            return;
        }
        let Some(perf) = tools::locate(harness.root, "perf") else {
            let how = "install linux-perf (Debian) or linux-tools-$(uname -r) (Ubuntu)";
            self.progress.log(
                Level::Info,
                &format!("functions are not sampled, as perf is not installed: {how}"),
            );
            return;
        };
        let began = Instant::now();
        for (index, metric) in series {
            let id = &self.setup.series[*index].id;
            self.progress.log(
                Level::Info,
                &format!("sampling the functions of {id}, {PAIRS} rounds of each side"),
            );
            match self.sampled(*index, *metric, &perf) {
                Ok(sampled) => self.recorder.run.series[*index].sampled = Some(sampled),
                Err(MeasureError::Interrupted) => break,
                Err(why) => self
                    .progress
                    .log(Level::Warn, &format!("functions of {id} are not sampled: {why}")),
            }
        }
        self.recorder.run.spent.sample_ns = nanos(began.elapsed());
    }

    fn sampled(&mut self, index: usize, metric: Metric, perf: &Path) -> Result<Sampled, MeasureError> {
        let programs = &self.setup.side(Variant::Candidate).programs;
        let command = programs.get(&self.setup.series[index].server.name);
        let program = command.and_then(|command| command.first());
        let is_go = program.is_some_and(|program| program::is_go(Path::new(program)));
        if is_go && metric != Metric::ServerCpu {
            return Err(GO_PARKS.to_owned().into());
        }
        let record = record_words(perf, metric, is_go);
        let stretch = Stretch {
            series: &[(index, SIDES.to_vec())],
            rounds: u32::try_from(PAIRS + SPARE).expect("a few"),
            first_round: 0,
            first_position: 0,
            stage: STAGE,
        };
        let slots = pairs(&stretch, self.recorder.run.seed);
        let runtimes = self.setup.prepared.harness.runtimes.iter();
        let frames = runtimes.filter_map(|runtime| Regex::new(&runtime.perf.as_ref()?.frame).ok());
        let frames: Vec<Regex> = frames.collect();
        let counted = SIDES.map(|variant| self.counted(index, variant));
        let trees = SIDES.map(|variant| {
            let side = self.setup.side(variant);
            Tree::of(side.repository.as_deref()).or(Some(self.setup.prepared.harness.root))
        });
        let mut readers = [0, 1].map(|side| PerfReader::new(metric, &trees[side], &frames, &counted[side]));
        let mut rounds: Vec<[SampledRound; 2]> = Vec::new();
        let mut failed = None;
        let began = Instant::now();
        for pair in slots.chunks(SIDES.len()) {
            if rounds.len() == PAIRS || began.elapsed() > AT_MOST {
                break;
            }
            let mut both = [SampledRound::default(), SampledRound::default()];
            let measured = pair.iter().try_for_each(|slot| {
                let side = usize::from(slot.variant == Variant::Candidate);
                both[side] = self.sample_round(*slot, metric, &record, &mut readers[side])?;
                Ok(())
            });
            let mut functions = both.iter().flat_map(|side| side.time.keys());
            let blind = match metric {
                Metric::ServerCpu if !functions.any(|(_, file)| file.is_some()) => Some(NO_OWN_FUNCTION),
                Metric::LatencyP50 if functions.next().is_none() => Some(NO_WAIT),
                _ => None,
            };
            match (measured, blind.filter(|_| rounds.is_empty())) {
                (Ok(()), Some(why)) => return Err(why.to_owned().into()),
                (Ok(()), None) if rounds.is_empty() && too_slow(began.elapsed()) => {
                    return Err(format!(
                        "a pair of rounds took {} s, so that the {NEEDED} that are needed do not fit into {} s",
                        began.elapsed().as_secs(),
                        AT_MOST.as_secs()
                    )
                    .into());
                }
                (Ok(()), None) => rounds.push(both),
                (Err(MeasureError::Interrupted), _) => return Err(MeasureError::Interrupted),
                (Err(why), _) => failed = Some(why),
            }
        }
        match failed {
            Some(why) if rounds.is_empty() => Err(why),
            _ => Ok(Sampled {
                stacks: written(&self.recorder.folder, self.write_stacks(index, metric, &rounds))?,
                ..recorded(metric, &rounds)
            }),
        }
    }

    /// Writes the folded call stacks of both sides, means over the rounds, ns per 1,000 requests.
    fn write_stacks(
        &self,
        index: usize,
        metric: Metric,
        rounds: &[[SampledRound; 2]],
    ) -> io::Result<BTreeMap<Variant, String>> {
        let folder = format!("sampled/{}", self.setup.series[index].id);
        fs::create_dir_all(self.recorder.folder.join(&folder))?;
        let mut files = BTreeMap::new();
        for (side, variant) in SIDES.into_iter().enumerate() {
            let mut stacks: BTreeMap<&str, f64> = BTreeMap::new();
            for (stack, ns) in rounds.iter().flat_map(|pair| &pair[side].stacks) {
                *stacks.entry(stack).or_default() += ns * 1000.0 / rounds.len() as f64;
            }
            let lines = stacks.into_iter().filter(|(_, ns)| *ns >= 1.0);
            let lines: String = lines.map(|(stack, ns)| format!("{stack} {ns:.0}\n")).collect();
            let file = format!("{folder}/{}.{}.folded", variant.name(), metric.name());
            fs::write(self.recorder.folder.join(&file), lines)?;
            files.insert(variant, file);
        }
        Ok(files)
    }

    /// Where the functions are that were counted of the server of a series, by name.
    fn counted(&self, index: usize, variant: Variant) -> BTreeMap<String, Source> {
        let all = &self.recorder.run.series;
        let of_server = all.iter().filter(|one| one.server == all[index].server);
        let work = of_server.filter_map(|one| one.counts_of(variant)?.work.as_ref());
        let functions = work.flat_map(|work| &work.functions);
        functions
            .map(|one| (one.function.clone(), one.source.clone()))
            .collect()
    }

    /// One round under perf, of a server that was started for it.
    fn sample_round(
        &mut self,
        slot: Slot,
        metric: Metric,
        record: &[String],
        reader: &mut PerfReader,
    ) -> Result<SampledRound, MeasureError> {
        let (load, warmup_requests) = self.load_of(slot.series)?;
        let mut series = self.setup.series[slot.series].clone();
        series.load = load;
        let harness = &self.setup.prepared.harness;
        let folder = self.raw_folder(&format!("sampled-{:02}-{}", slot.position, series.id));
        written(&folder, fs::create_dir_all(&folder))?;
        let mut side = self.setup.side(slot.variant).clone();
        let mut server = side.server_of(&series);
        let root = side.repository.as_deref().unwrap_or(harness.root);
        for runtime in harness.runtimes {
            if let Some(perf) = &runtime.perf {
                let known = [&server.front.env, &side.environment];
                let env = work::environment((runtime, &perf.env), Path::new(""), &folder, root, known);
                server.front.env.extend(written(&folder, env)?);
            }
        }
        let data = folder.join("perf.data");
        if let Some(command) = side.programs.get_mut(&server.name) {
            *command = under_perf(record, &data, command);
        }
        let mut target = harness.start(&side, &server, &folder)?;
        let request = harness.request(&series, &target)?;
        request.check(&target.front.address)?;
        let measured = harness.measure_load(&series, &folder, &request, &mut target, warmup_requests)?;
        let within = measured.ended_ns.saturating_sub(nanos(measured.wall))..measured.ended_ns;
        written(&folder, target.end(END_TIMEOUT, Ending::Traced))?;
        let round = normalise::round(self.setup.jq, &series, slot, &measured, &folder);
        let requests = round.ok_count.filter(|_| round.status == RoundStatus::Ok).unwrap_or(0);
        if requests == 0 {
            return Err(round
                .reason
                .unwrap_or_else(|| "a round without good answers".into())
                .into());
        }
        let read = reader.read(&data, &within)?;
        let share = |ns: u64| ns as f64 / requests as f64;
        let lines = |lines: BTreeMap<u32, u64>| lines.into_iter().map(|(line, ns)| (line, share(ns))).collect();
        let functions = read.by_function.into_iter();
        let time: BTreeMap<_, BTreeMap<u32, f64>> = functions
            .map(|(function, by_line)| (function, lines(by_line)))
            .collect();
        let whole = match metric {
            Metric::ServerCpu => time.values().flat_map(BTreeMap::values).sum(),
            _ => round.latency_ns.map_or(0.0, |latency| latency.p50 as f64),
        };
        if whole <= 0.0 {
            return Err("perf took no sample".to_owned().into());
        }
        if !self.setup.keep_raw {
            let _ = fs::remove_dir_all(&folder);
        }
        let stacks = read.by_stack.into_iter().map(|(stack, ns)| (stack, share(ns)));
        Ok(SampledRound {
            time,
            stacks: stacks.collect(),
            whole,
        })
    }
}

/// Whether a first pair took so long that the last one that is needed would not begin in time.
fn too_slow(pair: Duration) -> bool {
    pair * (NEEDED - 1) > AT_MOST
}

/// The words of `perf record` up to the option whose value is the file that it writes.
fn record_words(perf: &Path, metric: Metric, is_go: bool) -> Vec<String> {
    let [running, waiting] = STACKS;
    let (events, stacks) = match metric {
        Metric::ServerCpu => (CPU_EVENTS, running),
        _ => (SWITCH_EVENTS, waiting),
    };
    let stacks = if is_go { GO_STACKS } else { stacks };
    let options = format!("record -q -k CLOCK_MONOTONIC {events} --call-graph {stacks} -o");
    let options = options.split(' ').map(str::to_owned);
    std::iter::once(perf.to_string_lossy().into_owned())
        .chain(options)
        .collect()
}

/// The command that runs a server's command under perf.
fn under_perf(record: &[String], data: &Path, command: &[String]) -> Vec<String> {
    let file = [data.to_string_lossy().into_owned(), "--".to_owned()];
    [record, &file, command].concat()
}

/// The record of pairs of rounds.
fn recorded(metric: Metric, rounds: &[[SampledRound; 2]]) -> Sampled {
    let sides = |time: &dyn Fn(&SampledRound) -> f64| {
        let [baseline, candidate] = [0, 1].map(|side: usize| rounds.iter().map(|pair| time(&pair[side])).collect());
        SampledSides { baseline, candidate }
    };
    let whole = sides(&|round| round.whole);
    let share = |part: &[f64], whole: &[f64]| part.iter().sum::<f64>() / whole.iter().sum::<f64>();
    let all: BTreeSet<&SampledFunction> = rounds.iter().flatten().flat_map(|round| round.time.keys()).collect();
    let named = all.into_iter().filter(|(name, _)| name != NO_SYMBOL);
    let functions = named.filter_map(|function| {
        let time = sides(&|round| round.time.get(function).map_or(0.0, |lines| lines.values().sum()));
        let most = share(&time.baseline, &whole.baseline).max(share(&time.candidate, &whole.candidate));
        (most >= LEAST_SHARE).then(|| Recorded {
            function: function.0.clone(),
            source: function.1.as_ref().map(|file| Source::at(file, line(rounds, function))),
            time,
        })
    });
    Sampled {
        metric,
        functions: functions.collect(),
        whole,
        stacks: BTreeMap::new(),
    }
}

/// The line of a function on which most of its time was spent, on the candidate if it has the function.
fn line(rounds: &[[SampledRound; 2]], function: &SampledFunction) -> u32 {
    let of_side = |side: usize| {
        let mut lines: BTreeMap<u32, f64> = BTreeMap::new();
        for (line, ns) in rounds.iter().filter_map(|pair| pair[side].time.get(function)).flatten() {
            *lines.entry(*line).or_default() += ns;
        }
        lines.into_iter().max_by(|(_, one), (_, other)| one.total_cmp(other))
    };
    let most = of_side(1).or_else(|| of_side(0));
    most.map_or(1, |(line, _)| line.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_is_given_up_if_its_first_pair_shows_that_too_few_can_begin_in_time() {
        let begins_in_time =
            |seconds: u64| (0..NEEDED).all(|earlier| Duration::from_secs(seconds) * earlier <= AT_MOST);
        for seconds in 1..60 {
            assert_eq!(
                too_slow(Duration::from_secs(seconds)),
                !begins_in_time(seconds),
                "{seconds}"
            );
        }
        assert!(!too_slow(Duration::from_secs(20)) && too_slow(Duration::from_secs(21)));
    }
}
