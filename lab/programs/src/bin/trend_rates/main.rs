//! Prints how often the trend reports a step that does not exist, and how soon it reports one that does, for each kind of noise.
//!
//! Usage: `lab/scripts/rates.sh [FOLDER]`; with data files of github-action-benchmark in FOLDER, on recorded histories too. The
//! rule was developed on simulated rows, never on recorded ones.
#![expect(clippy::cast_precision_loss, reason = "counts")]

mod fleet;
mod noise;
mod recorded;

use std::path::Path;

use noise::Noise;
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use wirebench_stats::change_point::{ChangePoint, Detector, Event, SEEN_WITHIN};

/// A reported push this far from the true one is still the same step.
const NEAR: usize = 3;
const SERIES: usize = 1000;
const VALUES: usize = 200;
const TRIALS: usize = 10_000;
const SEED: u64 = 1;

fn main() -> anyhow::Result<()> {
    without_steps();
    with_a_step();
    promised();
    far_off();
    fleet::print();
    if let Some(folder) = std::env::args().nth(1) {
        recorded::print(Path::new(&folder))?;
    }
    Ok(())
}

/// False steps per 1,000 values: reported at any push, and still reported at the end.
fn without_steps() {
    println!("{SERIES} series × {VALUES} values without a step; steps reported per 1,000 values, ever / at the end:");
    for (name, noise) in Noise::ALL {
        let mut rng = ChaCha8Rng::seed_from_u64(SEED);
        let (mut ever, mut left) = (0, 0);
        for _ in 0..SERIES {
            let mut detector = Detector::default();
            let events = noise
                .row(VALUES, &mut rng)
                .into_iter()
                .map(|value| detector.push(value));
            ever += events.filter(|event| *event == Some(Event::Reported)).count();
            left += detector.change_points().len();
        }
        let rate = |count: usize| 1000.0 * count as f64 / (SERIES * VALUES) as f64;
        println!("  {name:48} {:6.2} / {:.2}", rate(ever), rate(left));
    }
}

/// How soon a true step after 60 or 20 values is reported.
fn with_a_step() {
    println!("a step, seen within 3, 5, 8 pushes ({TRIALS} trials each):");
    for (name, noise, percent) in [
        ("independent, s.d. 1 %", Noise::Independent { sd: 0.01 }, 3.0),
        ("independent, s.d. 3 %", Noise::Independent { sd: 0.03 }, 10.0),
        ("independent, s.d. 10 %", Noise::Independent { sd: 0.1 }, 40.0),
        (
            "AR(1) 0.5, s.d. 1 %",
            Noise::Autoregressive { sd: 0.01, share: 0.5 },
            5.0,
        ),
        ("outliers 1 in 20, s.d. 1 %", Noise::Outliers { sd: 0.01 }, 3.0),
        (
            "drift of 6 % in 100 pushes",
            Noise::Drift {
                sd: 0.01,
                per_push: 0.0006,
            },
            10.0,
        ),
        (
            "two levels 4 % apart",
            Noise::TwoLevels {
                sd: 0.01,
                apart: 0.04,
                chance: 0.1,
            },
            20.0,
        ),
    ] {
        for before in [60, 20] {
            let mut rng = ChaCha8Rng::seed_from_u64(SEED);
            let (mut hits, mut held) = ([0; 3], 0);
            for _ in 0..TRIALS {
                let row = stepped(noise, before, (1.0 + percent / 100.0f64).ln(), &mut rng);
                let Some((push, step)) = first_seen(&row, before) else {
                    continue;
                };
                for (hits, within) in hits.iter_mut().zip([3, SEEN_WITHIN, 8]) {
                    *hits += usize::from(push <= within);
                }
                held += usize::from((step.last_before + 1..=step.first_after).contains(&before));
            }
            let [three, five, eight] = hits.map(|hits| share(hits, TRIALS));
            let name = format!("{percent} %, {name}, after {before} values");
            println!(
                "  {name:52} {three}, {five}, {eight}; the range given holds the push in {}",
                share(held, hits[2])
            );
        }
    }
}

/// How often a step of the resolvable size is reported within five pushes.
fn promised() {
    println!("a step of the size that the trend says it sees, seen within {SEEN_WITHIN} pushes:");
    for (name, noise) in Noise::ALL {
        let mut rng = ChaCha8Rng::seed_from_u64(SEED);
        let (mut trials, mut seen, mut sizes) = (0, 0, 0.0);
        for trial in 0..TRIALS / 5 {
            let before = [20, 35, 60, 100][trial % 4];
            let row = noise.row(before + 8, &mut rng);
            let mut detector = Detector::default();
            for value in &row[..before] {
                detector.push(*value);
            }
            let Some(size) = detector.resolvable() else { continue };
            trials += 1;
            sizes += size;
            let rest = row[before..before + SEEN_WITHIN].iter().map(|value| value + size);
            seen += usize::from(is_seen(detector, rest, before));
        }
        let mean = 100.0 * (sizes / f64::from(trials.max(1))).exp_m1();
        println!(
            "  {name:48} {} (mean size {mean:.1} %)",
            share(seen, usize::try_from(trials).unwrap_or_default())
        );
    }
}

/// How often values a thousand times off are a step by the third push.
fn far_off() {
    println!("values × 1,000 or ÷ 1,000, seen by the third push:");
    for (name, noise) in Noise::ALL {
        let mut rng = ChaCha8Rng::seed_from_u64(SEED);
        let mut seen = 0;
        for trial in 0..SERIES {
            let before = [6, 20, 60][trial % 3];
            let row = noise.row(before + 3, &mut rng);
            let mut detector = Detector::default();
            let size = if trial % 2 == 0 { 1000f64.ln() } else { -1000f64.ln() };
            for (place, value) in row.into_iter().enumerate() {
                detector.push(value + if place < before { 0.0 } else { size });
            }
            let newest = detector.change_points().last().copied();
            seen += usize::from(newest.is_some_and(|step| (before..before + 3).contains(&step.reported)));
        }
        println!("  {name:48} {}", share(seen, SERIES));
    }
}

/// A row with a step after `before` values, and eight values after it.
fn stepped(noise: Noise, before: usize, size: f64, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let mut row = noise.row(before + 8, rng);
    for value in &mut row[before..] {
        *value += size;
    }
    row
}

/// The number of pushes after `place` until a step there is reported, and the step.
fn first_seen(row: &[f64], place: usize) -> Option<(usize, ChangePoint)> {
    let mut detector = Detector::default();
    for value in &row[..place] {
        detector.push(*value);
    }
    row[place..].iter().enumerate().find_map(|(number, value)| {
        detector.push(*value);
        let step = detector.change_points().last().copied();
        step.filter(|step| is_near(step, place)).map(|step| (number + 1, step))
    })
}

/// True if the detector reports a worsening near `place` at one of the next values.
fn is_seen(mut detector: Detector, rest: impl Iterator<Item = f64>, place: usize) -> bool {
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

fn share(part: usize, whole: usize) -> String {
    format!("{:.1} %", 100.0 * part as f64 / whole.max(1) as f64)
}
