//! Makes runs from a stored one, with other names of series and slightly different numbers.

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::{Number, Value, json};

/// The timed series of a run whose rounds are all ok.
fn timed(run: &Value) -> Vec<&Value> {
    let series = run["series"].as_array().into_iter().flatten();
    series.filter(|one| rounds(one) > 0 && one["status"] == "ok").collect()
}

fn rounds(series: &Value) -> usize {
    series["rounds"].as_array().map_or(0, Vec::len)
}

/// Prints the size of the run's file, by series and by round.
pub(crate) fn sizes(run: &Value) -> anyhow::Result<()> {
    let series = timed(run);
    let bytes: usize = series.iter().map(|one| one.to_string().len()).sum();
    let rounds: usize = series.iter().map(|one| rounds(one)).sum();
    anyhow::ensure!(rounds > 0, "the run has no timed series");
    println!("\n== a run's file");
    println!(
        "  {} timed series with {rounds} rounds of all variants: {} bytes a round, {} bytes a series",
        series.len(),
        bytes / rounds,
        bytes / series.len()
    );
    Ok(())
}

/// A run with `count` timed series, the first of them with number `first`, and numbers that differ from the stored run's by 1 %.
pub(crate) fn run(stored: &Value, number: usize, first: usize, count: usize) -> Value {
    let mut rng = ChaCha8Rng::seed_from_u64(number as u64);
    let series = timed(stored);
    let mut made = stored.clone();
    let id = format!("20261101T{:06}Z-{number:06x}", number % 240_000);
    made["id"] = json!(id);
    made["accepted"] = json!([]);
    made["series"] = (first..first + count)
        .map(|place| {
            let mut one = series[place % series.len()].clone();
            let scenario = format!("scenario-{place}");
            let (server, driver) = (text(&one, "server"), text(&one, "driver"));
            one["id"] = json!(format!("{scenario}@{server}@{driver}"));
            one["scenario"] = json!(scenario);
            vary(&mut one["rounds"], &mut rng);
            one
        })
        .collect();
    made
}

/// A run of another commit, with all timed series.
pub(crate) fn committed(stored: &Value, number: usize) -> Value {
    let count = timed(stored).len();
    let mut made = run(stored, number, 0, count);
    let variants = made["variants"].as_array_mut().into_iter().flatten();
    for variant in variants.filter(|one| one["variant"] == "candidate") {
        variant["commit"] = json!(format!("{:040x}", number.wrapping_mul(2_654_435_761)));
        variant["modified"] = json!(false);
    }
    made
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

/// Changes every large number by up to 1 %.
fn vary(value: &mut Value, rng: &mut ChaCha8Rng) {
    match value {
        Value::Array(list) => list.iter_mut().for_each(|one| vary(one, rng)),
        Value::Object(map) => map.values_mut().for_each(|one| vary(one, rng)),
        Value::Number(number) => {
            if let Some(whole) = number.as_u64().filter(|whole| *whole >= 10_000) {
                *number = Number::from(whole - whole / 100 + rng.random_range(0..=whole / 50));
            }
        }
        _ => {}
    }
}
