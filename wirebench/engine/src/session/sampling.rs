//! Samples where both sides of a series spend CPU time, function by function, in rounds of their own: perf stops a server many
//! times a second, so that rounds under it are no measurement of its speed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use log::Level;
use regex::Regex;

use crate::count::profile::Tree;
use crate::count::profile::perf::{CpuTime, NO_SYMBOL, PerfReader, SampledFunction};
use crate::count::work;
use crate::measure::error::{MeasureError, written};
use crate::measure::process::Ending;
use crate::measure::tools;
use crate::normalise;
use crate::session::Session;
use wirebench_declare::plan::{Slot, Stretch, pairs};
use wirebench_declare::span::nanos;
use wirebench_record::counts::Source;
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
/// Samples per second of CPU time: a prime, so that they keep no step with timers.
const FREQUENCY: u32 = 997;
/// Functions with a smaller share on both sides are not recorded.
const LEAST_SHARE: f64 = 0.005;
/// How long a server may take to end after SIGTERM, when a JVM writes its map, and perf after it.
const END_TIMEOUT: Duration = Duration::from_secs(10);
/// The number of the stage, which selects the order of its rounds: after the two of the comparison.
const STAGE: u32 = 3;

/// Why there is nothing to name after the first pair.
const NO_OWN_FUNCTION: &str = "perf sees none of the project's own: an interpreter without frame pointers (Python), \
    or a program without debug information";

/// The CPU time of one round, ns per request, of each function by line.
type RoundTime = BTreeMap<SampledFunction, BTreeMap<u32, f64>>;

impl Session<'_> {
    /// Samples the series with these indices, and records the functions of both sides. What cannot be sampled is told.
    pub(super) fn sample(&mut self, series: &[usize]) {
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
        for index in series {
            let id = &self.setup.series[*index].id;
            self.progress.log(
                Level::Info,
                &format!("sampling the functions of {id}, {PAIRS} rounds of each side"),
            );
            match self.sampled(*index, &perf) {
                Ok(sampled) => self.recorder.run.series[*index].sampled = Some(sampled),
                Err(MeasureError::Interrupted) => break,
                Err(why) => self
                    .progress
                    .log(Level::Warn, &format!("functions of {id} are not sampled: {why}")),
            }
        }
        self.recorder.run.spent.sample_ns = nanos(began.elapsed());
    }

    fn sampled(&mut self, index: usize, perf: &Path) -> Result<Sampled, MeasureError> {
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
        let mut readers = [0, 1].map(|side| PerfReader::new(&trees[side], &frames, &counted[side]));
        let mut rounds: Vec<[RoundTime; 2]> = Vec::new();
        let mut failed = None;
        let began = Instant::now();
        for pair in slots.chunks(SIDES.len()) {
            if rounds.len() == PAIRS || began.elapsed() > AT_MOST {
                break;
            }
            let mut both = [RoundTime::new(), RoundTime::new()];
            let measured = pair.iter().try_for_each(|slot| {
                let side = usize::from(slot.variant == Variant::Candidate);
                both[side] = self.sample_round(*slot, perf, &mut readers[side])?;
                Ok(())
            });
            let has_own = || both.iter().flat_map(BTreeMap::keys).any(|(_, file)| file.is_some());
            match measured {
                Ok(()) if rounds.is_empty() && !has_own() => {
                    return Err(NO_OWN_FUNCTION.to_owned().into());
                }
                Ok(()) if rounds.is_empty() && too_slow(began.elapsed()) => {
                    return Err(format!(
                        "a pair of rounds took {} s, so that the {NEEDED} that are needed do not fit into {} s",
                        began.elapsed().as_secs(),
                        AT_MOST.as_secs()
                    )
                    .into());
                }
                Ok(()) => rounds.push(both),
                Err(MeasureError::Interrupted) => return Err(MeasureError::Interrupted),
                Err(why) => failed = Some(why),
            }
        }
        match failed {
            Some(why) if rounds.is_empty() => Err(why),
            _ => Ok(recorded(&rounds)),
        }
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
    fn sample_round(&mut self, slot: Slot, perf: &Path, reader: &mut PerfReader) -> Result<RoundTime, MeasureError> {
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
            *command = under_perf(perf, &data, command);
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
        let time = reader.read(&data, &within)?;
        if time.total_ns == 0 {
            return Err("perf took no sample".to_owned().into());
        }
        if !self.setup.keep_raw {
            let _ = fs::remove_dir_all(&folder);
        }
        Ok(per_request(&time, requests))
    }
}

/// Whether a first pair took so long that the last one that is needed would not begin in time.
fn too_slow(pair: Duration) -> bool {
    pair * (NEEDED - 1) > AT_MOST
}

/// The command that runs a server's command under perf.
fn under_perf(perf: &Path, data: &Path, command: &[String]) -> Vec<String> {
    let [perf, data] = [perf, data].map(|path| path.to_string_lossy().into_owned());
    let record = format!("record -q -k CLOCK_MONOTONIC -e cpu-clock -F {FREQUENCY} -g -o");
    let options = record.split(' ').map(str::to_owned);
    let words = std::iter::once(perf).chain(options).chain([data, "--".to_owned()]);
    words.chain(command.iter().cloned()).collect()
}

fn per_request(time: &CpuTime, requests: u64) -> RoundTime {
    let share = |ns: u64| ns as f64 / requests as f64;
    let functions = time.by_function.iter();
    functions
        .map(|(function, lines)| {
            (
                function.clone(),
                lines.iter().map(|(line, ns)| (*line, share(*ns))).collect(),
            )
        })
        .collect()
}

/// The record of pairs of rounds.
fn recorded(rounds: &[[RoundTime; 2]]) -> Sampled {
    let sides = |time: &dyn Fn(&RoundTime) -> f64| {
        let [baseline, candidate] = [0, 1].map(|side: usize| rounds.iter().map(|pair| time(&pair[side])).collect());
        SampledSides { baseline, candidate }
    };
    let whole = sides(&|round| round.values().flat_map(BTreeMap::values).sum());
    let share = |part: &[f64], whole: &[f64]| part.iter().sum::<f64>() / whole.iter().sum::<f64>();
    let all: BTreeSet<&SampledFunction> = rounds.iter().flatten().flat_map(BTreeMap::keys).collect();
    let named = all.into_iter().filter(|(name, _)| name != NO_SYMBOL);
    let functions = named.filter_map(|function| {
        let time = sides(&|round| round.get(function).map_or(0.0, |lines| lines.values().sum()));
        let most = share(&time.baseline, &whole.baseline).max(share(&time.candidate, &whole.candidate));
        (most >= LEAST_SHARE).then(|| Recorded {
            function: function.0.clone(),
            source: function.1.as_ref().map(|file| Source::at(file, line(rounds, function))),
            time,
        })
    });
    Sampled {
        functions: functions.collect(),
        whole,
    }
}

/// The line of a function on which most of its time was spent, on the candidate if it has the function.
fn line(rounds: &[[RoundTime; 2]], function: &SampledFunction) -> u32 {
    let of_side = |side: usize| {
        let mut lines: BTreeMap<u32, f64> = BTreeMap::new();
        for (line, ns) in rounds.iter().filter_map(|pair| pair[side].get(function)).flatten() {
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
