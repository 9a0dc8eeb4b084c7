//! Rates on changing machines: for counts, which are equal on all machines, and for ratios to a reference, which may differ.

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use wirebench_stats::change_point::{Detector, Event};
use wirebench_stats::count_step::CountDetector;
use wirebench_stats::machine_mix::convert;

use crate::noise::normal;
use crate::{SEED, SERIES, VALUES, share};

/// The number of series that are judged again at every push.
const REPLAYED: usize = 200;
/// How much more the candidate costs on the second processor, relative to the reference.
const SLOWER: f64 = 0.04;

pub(crate) fn print() {
    counts();
    mixes();
}

/// False steps in counts that repeat exactly within a run and differ between runs, and how often a step of 1 % is reported at its own
/// push.
fn counts() {
    println!(
        "counts on machines that change; steps per 1,000 values, ever / at the end; a step of 1 % seen at its own push:"
    );
    for (name, sd) in [
        ("exact", 0.0),
        ("s.d. 0.05 %", 0.0005),
        ("s.d. 0.1 %", 0.001),
        ("s.d. 0.4 %", 0.004),
    ] {
        let mut rng = ChaCha8Rng::seed_from_u64(SEED);
        let (mut ever, mut left, mut seen) = (0, 0, 0);
        for _ in 0..SERIES {
            let mut detector = CountDetector::default();
            let value = |rng: &mut ChaCha8Rng| sd * normal(rng);
            let events = (0..VALUES).map(|_| detector.push(value(&mut rng), Some(0.0)));
            ever += events.filter(|event| *event == Some(Event::Reported)).count();
            left += detector.change_points().len();
            let step = detector.push(0.01 + value(&mut rng), Some(0.0));
            seen += usize::from(step == Some(Event::Reported));
        }
        let rate = |count: usize| 1000.0 * count as f64 / (SERIES * VALUES) as f64;
        println!(
            "  {name:48} {:6.2} / {:.2}; {}",
            rate(ever),
            rate(left),
            share(seen, SERIES)
        );
    }
}

/// The share of the second processor over time.
type Share = fn(f64) -> f64;

/// Rates of false steps in ratios measured on two processor models whose mix changes. The series is judged again at every
/// push, with only the values up to that push: steps reported at any push, and steps still reported at the end.
fn mixes() {
    println!(
        "ratios, s.d. 1 %, over two processors on which the candidate differs by 4 %; {REPLAYED} series × {VALUES} values, \
         steps ever / at the end (series with one):"
    );
    let mixes: [(&str, Share); 3] = [
        ("share from 10 to 90 % at once", |at| if at < 0.5 { 0.1 } else { 0.9 }),
        ("share from 10 to 90 %, steadily", |at| 0.1 + 0.8 * at),
        ("half of each all the time", |_| 0.5),
    ];
    for (name, share_at) in mixes {
        let mut rng = ChaCha8Rng::seed_from_u64(SEED);
        let (mut ever, mut left, mut raw) = (0, 0, 0);
        for _ in 0..REPLAYED {
            let (mut values, mut kinds) = (Vec::new(), Vec::new());
            let mut reported = false;
            let mut without = Detector::default();
            for place in 0..VALUES {
                let second = rng.random::<f64>() < share_at(place as f64 / VALUES as f64);
                let value = 0.01 * normal(&mut rng) + if second { SLOWER } else { 0.0 };
                without.push(value);
                values.push(value);
                kinds.push(u32::from(second));
                reported |= judged(&values, &kinds).contains(&place);
            }
            ever += usize::from(reported);
            left += usize::from(!judged(&values, &kinds).is_empty());
            raw += usize::from(!without.change_points().is_empty());
        }
        println!("  {name:48} {ever} / {left}; without bringing them to one processor: {raw} at the end");
    }
}

/// The places at which steps are reported.
fn judged(values: &[f64], kinds: &[u32]) -> Vec<usize> {
    let mut detector = Detector::default();
    for value in convert(values, kinds).values {
        detector.push(value);
    }
    detector.change_points().iter().map(|step| step.reported).collect()
}
