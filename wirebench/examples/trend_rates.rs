//! Prints how well the trend finds steps: on recorded histories, with steps injected into them, and on simulated ratios.
//!
//! Usage: `scripts/rates.sh FOLDER` with data files of github-action-benchmark; without a folder only the simulation.
#![expect(clippy::cast_precision_loss, reason = "counts")]

use std::fs;
use std::path::Path;
use std::time::Instant;

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use wirebench::history::import::{parse, sound_values};
use wirebench::record::metric::Better;
use wirebench::stats::change_point::{ChangePoint, Detector, Event, SEEN_WITHIN};

/// How far from the true push a reported one may be and still be the same step.
const NEAR: usize = 3;
/// Values before an injected step, at least.
const BEFORE: usize = 30;
const TRIALS: usize = 20_000;
const SEED: u64 = 1;

fn main() -> anyhow::Result<()> {
    if let Some(folder) = std::env::args().nth(1) {
        let rows = rows(Path::new(&folder))?;
        println!(
            "recorded histories: {} series, {} values",
            rows.len(),
            rows.iter().map(Vec::len).sum::<usize>()
        );
        replayed(&rows);
        injected(&rows);
    }
    for outliers in [true, false] {
        simulated(outliers);
    }
    Ok(())
}

/// Logarithms of badness of every series whose direction is known, in the file's order.
fn rows(folder: &Path) -> anyhow::Result<Vec<Vec<f64>>> {
    let mut files: Vec<_> = fs::read_dir(folder)?.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| {
        file.extension()
            .is_some_and(|ending| ending == "js" || ending == "json")
    });
    files.sort();
    let mut rows = Vec::new();
    for file in files {
        let started = Instant::now();
        let text = fs::read_to_string(file)?;
        let imported = parse(&text)?;
        let (bytes, took) = (text.len() as f64, started.elapsed().as_secs_f64());
        println!("import of {:.1} MB: {took:.3} s", bytes / 1e6);
        for series in imported.suites.iter().flat_map(|suite| &suite.series) {
            let sign = match series.better {
                Some(Better::Lower) => 1.0,
                Some(Better::Higher) => -1.0,
                None => continue,
            };
            rows.push(sound_values(series).map(|(_, value)| sign * value.ln()).collect());
        }
    }
    Ok(rows)
}

/// Alerts, and how many are gone one push later.
#[derive(Default)]
struct Alerts {
    raised: usize,
    gone: usize,
}

impl Alerts {
    fn print(&self, what: &str) {
        println!(
            "  {what}: {} alerts, {} of them gone at the next push",
            self.raised, self.gone
        );
    }
}

fn replayed(rows: &[Vec<f64>]) {
    println!("replayed push by push, worsenings:");
    let limit = 1.1f64.ln();
    let (mut ratio, mut trend, mut back) = (Alerts::default(), Alerts::default(), 0);
    for row in rows {
        for place in 1..row.len() {
            if row[place] - row[place - 1] > limit {
                ratio.raised += 1;
                let next = row.get(place + 1);
                ratio.gone += usize::from(next.is_some_and(|next| next - row[place - 1] <= limit));
            }
        }
        let mut detector = Detector::default();
        let mut raised: Option<usize> = None;
        for (place, value) in row.iter().enumerate() {
            let event = detector.push(*value);
            let now = detector.change_points();
            if let Some(before) = raised.take() {
                trend.gone += usize::from(!now.iter().any(|step| step.reported == before));
            }
            let newest = now
                .last()
                .filter(|step| event == Some(Event::Reported) && step.change.estimate > 0.0);
            if let Some(step) = newest {
                trend.raised += 1;
                raised = Some(place);
                let old = median(&row[step.last_before.saturating_sub(29)..=step.last_before]);
                let next = row.get(place + 1);
                back += usize::from(next.is_some_and(|next| next - old <= 1.02f64.ln()));
            }
        }
    }
    ratio.print("ratio rule, more than 110 % of the value before");
    trend.print("trend");
    println!("  (after {back} of the trend's alerts the next value alone is within 2 % of the old level)");
}

fn injected(rows: &[Vec<f64>]) {
    let places: Vec<(usize, usize)> = rows
        .iter()
        .enumerate()
        .flat_map(|(number, row)| {
            (BEFORE..(row.len() + 1).saturating_sub(SEEN_WITHIN)).map(move |place| (number, place))
        })
        .collect();
    let step = 1.1f64.ln();
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    // Trials, steps seen, trials in which a worsening is reported there without any injected step.
    let (mut all, mut able) = ([0; 3], [0; 3]);
    for _ in 0..TRIALS {
        let (number, place) = places[rng.random_range(0..places.len())];
        let row = &rows[number];
        let mut detector = Detector::default();
        for value in &row[..place] {
            detector.push(*value);
        }
        let resolvable = detector.resolvable();
        let [seen, anyway] = [step, 0.0].map(|size| {
            let rest = row[place..place + SEEN_WITHIN].iter().map(|value| value + size);
            usize::from(seen(detector.clone(), rest, place))
        });
        let count = |into: &mut [usize; 3]| {
            into[0] += 1;
            into[1] += seen;
            into[2] += anyway;
        };
        count(&mut all);
        if resolvable.is_some_and(|size| size <= step) {
            count(&mut able);
        }
    }
    println!("a step of 10 % injected at a random push of a recorded series, seen within {SEEN_WITHIN} pushes:");
    let print = |what: &str, [trials, seen, anyway]: [usize; 3]| {
        println!(
            "  {what}: {trials} trials ({}), seen {}, reported there without it {}",
            share(trials, all[0]),
            share(seen, trials),
            share(anyway, trials)
        );
    };
    print("every series", all);
    print("where the trend says that it sees 10 %", able);
    let (mut sometimes, mut mostly, mut long) = (0, 0, 0);
    for row in rows.iter().filter(|row| row.len() >= BEFORE + SEEN_WITHIN) {
        let mut detector = Detector::default();
        let sees = row.iter().enumerate().filter(|(place, value)| {
            detector.push(**value);
            *place >= BEFORE && detector.resolvable().is_some_and(|size| size <= step)
        });
        let sees = sees.count();
        long += 1;
        sometimes += usize::from(sees > 0);
        mostly += usize::from(sees > (row.len() - BEFORE) / 2);
    }
    println!(
        "  of {long} series with enough values it says so at some push of {sometimes}, at most pushes of {mostly}"
    );
}

/// Whether one of the next values makes the detector report a worsening near `place`.
fn seen(mut detector: Detector, rest: impl Iterator<Item = f64>, place: usize) -> bool {
    let mut found = false;
    for value in rest {
        detector.push(value);
        found |= detector.change_points().last().is_some_and(|step| is_near(step, place));
    }
    found
}

fn is_near(step: &ChangePoint, place: usize) -> bool {
    step.change.estimate > 0.0
        && step.reported >= place
        && step.first_after + NEAR >= place
        && step.last_before <= place + NEAR
}

/// Log ratios to a reference: normal with a standard deviation of 1 %, and 5 % of them off by 3 … 10 % either way.
fn ratio(rng: &mut ChaCha8Rng, outliers: bool) -> f64 {
    let (one, two): (f64, f64) = (rng.random(), rng.random());
    let normal = (-2.0 * (1.0 - one).ln()).sqrt() * (std::f64::consts::TAU * two).cos();
    let (chance, size): (f64, f64) = (rng.random(), rng.random());
    let off = match chance {
        chance if !outliers || chance >= 0.05 => 0.0,
        chance if chance < 0.025 => -0.03 - 0.07 * size,
        _ => 0.03 + 0.07 * size,
    };
    0.01 * normal + off
}

fn simulated(outliers: bool) {
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let noise = if outliers {
        "5 % outliers of ±3 … ±10 %"
    } else {
        "no outliers"
    };
    println!("simulated log ratios, s.d. 1 %, {noise}:");
    let (histories, pushes) = (1000, 200);
    let (mut reported, mut worse, mut left) = (0, 0, 0);
    for _ in 0..histories {
        let mut detector = Detector::default();
        for _ in 0..pushes {
            if detector.push(ratio(&mut rng, outliers)) == Some(Event::Reported) {
                reported += 1;
                worse += usize::from(
                    detector
                        .change_points()
                        .last()
                        .is_some_and(|step| step.change.estimate > 0.0),
                );
            }
        }
        left += detector.change_points().len();
    }
    let rate = |count: usize| 1000.0 * count as f64 / (histories * pushes) as f64;
    println!(
        "  without a step: {:.2} false reports per 1,000 pushes ({:.2} of them worsenings), {:.2} still there at the end",
        rate(reported),
        rate(worse),
        rate(left)
    );
    let (mut hits, mut held) = ([0; 3], 0);
    let place = 60;
    for _ in 0..TRIALS {
        let mut detector = Detector::default();
        for _ in 0..place {
            detector.push(ratio(&mut rng, outliers));
        }
        let mut at = None;
        for push in 1..=8 {
            detector.push(ratio(&mut rng, outliers) + 1.03f64.ln());
            let near = detector
                .change_points()
                .last()
                .copied()
                .filter(|step| is_near(step, place));
            if let Some(step) = near.filter(|_| at.is_none()) {
                at = Some(push);
                held += usize::from((step.last_before + 1..=step.first_after).contains(&place));
            }
        }
        for (hits, within) in hits.iter_mut().zip([3, 5, 8]) {
            *hits += usize::from(at.is_some_and(|push| push <= within));
        }
    }
    println!(
        "  a step of 3 %: seen within 3, 5, 8 pushes: {}, {}, {}; the range given holds the push in {}",
        share(hits[0], TRIALS),
        share(hits[1], TRIALS),
        share(hits[2], TRIALS),
        share(held, hits[2])
    );
}

fn median(values: &[f64]) -> f64 {
    wirebench::stats::quantile::median(values).unwrap_or(f64::NAN)
}

fn share(part: usize, whole: usize) -> String {
    format!("{:.1} %", 100.0 * part as f64 / whole.max(1) as f64)
}
