//! Simulated rows of logarithms, with each kind of noise that the trend must tolerate.

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;

/// A kind of noise; sizes are changes of the logarithm.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Noise {
    /// Independent and normal.
    Independent { sd: f64 },
    /// Normal, each value correlated with the one before.
    Autoregressive { sd: f64, share: f64 },
    /// Independent around two levels; at each push the level changes with a chance.
    TwoLevels { sd: f64, apart: f64, chance: f64 },
    /// Independent, and one in 20 values is 20 to 45 % higher.
    Outliers { sd: f64 },
    /// Independent around a sine.
    Sine { sd: f64, amplitude: f64, period: f64 },
    /// Independent around a level that rises steadily.
    Drift { sd: f64, per_push: f64 },
    /// Independent around a random walk.
    Walk { sd: f64, per_push: f64 },
    /// Independent around levels that take turns.
    Turns {
        sd: f64,
        apart: f64,
        levels: usize,
        pushes: usize,
    },
    /// Independent with the tails of an exponential law on one side.
    Skewed { sd: f64 },
}

impl Noise {
    /// The rows of the table in docs/TREND.md.
    pub(crate) const ALL: [(&'static str, Self); 16] = [
        ("independent, s.d. 1 %", Self::Independent { sd: 0.01 }),
        ("independent, s.d. 3 %", Self::Independent { sd: 0.03 }),
        ("independent, s.d. 10 %", Self::Independent { sd: 0.1 }),
        ("AR(1) 0.5, s.d. 1 %", Self::Autoregressive { sd: 0.01, share: 0.5 }),
        ("AR(1) 0.5, s.d. 3 %", Self::Autoregressive { sd: 0.03, share: 0.5 }),
        ("AR(1) 0.8, s.d. 3 %", Self::Autoregressive { sd: 0.03, share: 0.8 }),
        (
            "two levels 4 % apart, change 1 in 10, s.d. 1 %",
            Self::TwoLevels {
                sd: 0.01,
                apart: 0.04,
                chance: 0.1,
            },
        ),
        (
            "two levels 10 % apart, change 1 in 20, s.d. 1 %",
            Self::TwoLevels {
                sd: 0.01,
                apart: 0.1,
                chance: 0.05,
            },
        ),
        ("outliers 1 in 20, +20 to 45 %, s.d. 1 %", Self::Outliers { sd: 0.01 }),
        (
            "sine of ±2 %, 24 pushes, s.d. 1 %",
            Self::Sine {
                sd: 0.01,
                amplitude: 0.02,
                period: 24.0,
            },
        ),
        (
            "sine of ±5 %, 24 pushes, s.d. 1 %",
            Self::Sine {
                sd: 0.01,
                amplitude: 0.05,
                period: 24.0,
            },
        ),
        (
            "drift of 6 % in 100 pushes, s.d. 1 %",
            Self::Drift {
                sd: 0.01,
                per_push: 0.0006,
            },
        ),
        ("skewed, s.d. 3 %", Self::Skewed { sd: 0.03 }),
        (
            "random walk of 0.3 % a push, s.d. 1 %",
            Self::Walk {
                sd: 0.01,
                per_push: 0.003,
            },
        ),
        (
            "random walk of 1 % a push, s.d. 1 %",
            Self::Walk {
                sd: 0.01,
                per_push: 0.01,
            },
        ),
        (
            "three levels 5 % apart in turn, 14 pushes, s.d. 1 %",
            Self::Turns {
                sd: 0.01,
                apart: 0.05,
                levels: 3,
                pushes: 14,
            },
        ),
    ];

    /// A row without a step.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "counts of at most a thousand"
    )]
    pub(crate) fn row(self, values: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
        let mut before = normal(rng);
        let mut upper = rng.random::<bool>();
        let phase: f64 = rng.random();
        // The place in the turns at which the row starts.
        let start = (1000.0 * phase) as usize;
        let mut walk = 0.0;
        let mut value = |place: usize| match self {
            Self::Independent { sd } => sd * normal(rng),
            Self::Autoregressive { sd, share } => {
                let now = before;
                before = share * before + (1.0 - share * share).sqrt() * normal(rng);
                sd * now
            }
            Self::TwoLevels { sd, apart, chance } => {
                upper ^= rng.random::<f64>() < chance;
                sd * normal(rng) + if upper { apart } else { 0.0 }
            }
            Self::Outliers { sd } => {
                let (chance, size): (f64, f64) = (rng.random(), rng.random());
                sd * normal(rng) + if chance < 0.05 { (1.2 + 0.25 * size).ln() } else { 0.0 }
            }
            Self::Sine { sd, amplitude, period } => {
                sd * normal(rng) + amplitude * (std::f64::consts::TAU * (phase + place as f64 / period)).sin()
            }
            Self::Drift { sd, per_push } => sd * normal(rng) + per_push * place as f64,
            Self::Walk { sd, per_push } => {
                walk += per_push * normal(rng);
                sd * normal(rng) + walk
            }
            Self::Turns {
                sd,
                apart,
                levels,
                pushes,
            } => sd * normal(rng) + apart * ((start + place) / pushes % levels) as f64,
            Self::Skewed { sd } => sd * (-(1.0 - rng.random::<f64>()).ln() - 1.0),
        };
        (0..values).map(&mut value).collect()
    }
}

/// A standard normal number, by Box and Muller.
pub(crate) fn normal(rng: &mut ChaCha8Rng) -> f64 {
    let (one, two): (f64, f64) = (rng.random(), rng.random());
    (-2.0 * (1.0 - one).ln()).sqrt() * (std::f64::consts::TAU * two).cos()
}
