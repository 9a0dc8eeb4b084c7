//! The columns of the table of metrics: the properties of each metric.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::round::Round;

/// Which way is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Less is better.
    Lower,
    /// More is better.
    Higher,
}

/// How values of a metric are written for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notation {
    /// A time with the unit that fits: `12.2 µs`.
    Time,
    /// A size with the unit that fits: `8.10 MiB`.
    Size,
    /// A number of bytes: `163 B`.
    Bytes,
    /// A number whose unit is in the head of its column: `16,148`.
    Number,
    /// A number with its unit: `83,304 req/s`.
    NumberAndUnit,
}

/// Whether a regression of a metric fails the gate, unless the project's `[[margins]]` say otherwise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DefaultGate {
    /// It does.
    Always,
    /// From a confirmed worsening of so many percent on.
    Above(f64),
    /// It is shown only.
    Never,
}

/// Where the values of a metric come from.
#[derive(Debug, Clone, Copy)]
pub enum Source {
    /// From rounds.
    Timed {
        /// The fewest good responses of a round whose value is compared.
        responses_at_least: u64,
        /// The value of a round, from the round and the number of its good responses, which is not 0.
        read: fn(&Round, f64) -> Option<f64>,
    },
    /// From counting: a figure of [`crate::counts::Counts`].
    Counted {
        /// How much the counts of two server runs may differ without a cause in the server's code: work by the clock,
        /// such as a new Date header each second, and the driver's last frames. In the metric's unit; small compared
        /// with any change in every request.
        unrelated: f64,
        /// Whether it is also counted by function or by system call.
        by_name: bool,
    },
}

/// Everything there is to know of one metric.
#[derive(Debug)]
pub struct MetricRow {
    /// Its name in every file.
    pub name: &'static str,
    /// Its name in one or two words, for labels in charts. `limits` of a scenario accept it too.
    pub short: &'static str,
    /// Its name in sentences and headings.
    pub label: &'static str,
    /// The head of its column where there is little room.
    pub head: &'static str,
    /// The head of its column in the tables of a run; `None` if it has no column there.
    pub column: Option<&'static str>,
    /// The unit of its values.
    pub unit: &'static str,
    /// How its values are written.
    pub notation: Notation,
    /// Which way is better.
    pub better: Better,
    /// The worsening that is ignored unless the project says otherwise, percent.
    pub margin_percent: f64,
    /// Whether a regression fails the gate unless the project says otherwise.
    pub gate: DefaultGate,
    /// Its place in [`OF_SERVER`](super::Metric::OF_SERVER) or [`COUNTED`](super::Metric::COUNTED), from 1; `None` if it is shown, but neither compared,
    /// exported nor kept in histories.
    pub rank: Option<usize>,
    /// Where its values come from.
    pub source: Source,
}
