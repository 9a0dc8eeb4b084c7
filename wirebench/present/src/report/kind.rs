//! What the series of a scenario measure.

use wirebench_judge::summary::{Row, Section};

/// What the series of a scenario measure: all of them the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Process starts.
    StartUp,
    /// Iterations inside a program.
    Benchmark,
    /// A server under load.
    Load,
}

impl Kind {
    pub(super) fn of(section: &Section) -> Self {
        if section.rows.iter().all(Row::is_start_up) {
            Self::StartUp
        } else if section.rows.iter().all(Row::is_benchmark) {
            Self::Benchmark
        } else {
            Self::Load
        }
    }
}
