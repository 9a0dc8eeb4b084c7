//! The trend on recorded histories: replayed push by push, and with steps injected into them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use wirebench_history::import::{parse, sound_values};
use wirebench_record::metric::Better;
use wirebench_stats::change_point::{Detector, Event, SEEN_WITHIN};

use crate::{SEED, is_seen, share};

/// The least number of values before an injected step.
const BEFORE: usize = 30;
const TRIALS: usize = 20_000;

/// The beginnings of the names of files that were looked at while the rule was developed; none of its constants was chosen by
/// them. All other files of the folder are for confirmation.
const LOOKED_AT: [&str; 2] = ["1c-syntax-", "sourcemeta-"];

/// Prints the results for the data files of a folder: for the files that were looked at, and for the others.
///
/// # Errors
/// If a file cannot be read or has another format.
pub(crate) fn print(folder: &Path) -> anyhow::Result<()> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)?.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| {
        file.extension()
            .is_some_and(|ending| ending == "js" || ending == "json")
    });
    files.sort();
    let looked_at = |file: &PathBuf| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        LOOKED_AT.iter().any(|start| name.starts_with(start))
    };
    let (first, second): (Vec<PathBuf>, Vec<PathBuf>) = files.into_iter().partition(looked_at);
    for (what, files) in [("looked at", first), ("kept for confirmation", second)] {
        let rows = rows(&files)?;
        println!(
            "recorded histories, {what}: {} series, {} values",
            rows.len(),
            rows.iter().map(Vec::len).sum::<usize>()
        );
        if !rows.is_empty() {
            replayed(&rows);
            injected(&rows);
        }
    }
    Ok(())
}

/// The logarithms of every series whose better direction is known, signed so that more is worse, in the file's order.
fn rows(files: &[PathBuf]) -> anyhow::Result<Vec<Vec<f64>>> {
    let mut rows = Vec::new();
    for file in files {
        let started = Instant::now();
        let text = fs::read_to_string(file)?;
        let imported = parse(&text)?;
        let (bytes, took) = (text.len() as f64, started.elapsed().as_secs_f64());
        println!(
            "import of {}, {:.1} MB: {took:.3} s",
            file.file_name().unwrap_or_default().to_string_lossy(),
            bytes / 1e6
        );
        for series in imported.suites.iter().flat_map(|suite| &suite.series) {
            let sign = match series.better {
                Some(Better::Lower) => 1.0,
                Some(Better::Higher) => -1.0,
                None => continue,
            };
            let values = sound_values(series).filter(|(_, value)| *value > 0.0);
            rows.push(values.map(|(_, value)| sign * value.ln()).collect());
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
            usize::from(is_seen(detector.clone(), rest, place))
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
    resolvable(rows, step);
}

/// Prints how often the trend says that it sees a step of this size.
fn resolvable(rows: &[Vec<f64>], step: f64) {
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

fn median(values: &[f64]) -> f64 {
    wirebench_stats::quantile::median(values).unwrap_or(f64::NAN)
}
