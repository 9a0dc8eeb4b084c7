//! What is wasted, and where it has to be seen.

use anyhow::Context as _;
use wirebench_record::metric::Metric;

use crate::runner::{Runner, Server};

/// No arguments: the server as it is.
pub(crate) const PLAIN: &str = "";
/// What the names of all wasting functions begin with, and the system call that they waste.
const WASTING: [&str; 2] = ["server_runtime::waste::", "getppid"];
/// The servers waste a multiple of this.
const STEP: f64 = 5.0;

/// One kind of waste. Both sides waste something, so that what differs is the amount alone.
#[derive(Debug)]
pub(crate) struct Kind {
    /// What it is, in words.
    pub(crate) name: String,
    argument: &'static str,
    amounts: (u64, u64),
    /// The count that has to grow.
    pub(crate) metric: Metric,
    /// The list of functions or system calls that has to begin with the wasting one; none where no list can show it.
    list: Option<Metric>,
}

impl Kind {
    /// Every kind, as large as the server asks for: 1 % of the instructions that it needs when it wastes next to none.
    pub(crate) fn all(runner: &Runner, server: Server) -> anyhow::Result<Vec<Self>> {
        let least = "--waste-instructions 5";
        let made = runner.compare(server, least, least)?;
        let figure = made.counts[0].value(Metric::Instructions);
        let (instructions, _) = figure.context("no figure for instructions")?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few thousand")]
        let percent = ((instructions / 100.0 / STEP).ceil() * STEP) as u64;
        let kind = |name: &str, argument, amounts, metric, list| Self {
            name: name.to_owned(),
            argument,
            amounts,
            metric,
            list,
        };
        Ok(vec![
            kind(
                &format!("1 % more instructions ({percent})"),
                "--waste-instructions",
                (5, 5 + percent),
                Metric::Instructions,
                Some(Metric::Instructions),
            ),
            kind(
                "one allocation",
                "--waste-allocations",
                (1, 2),
                Metric::Allocations,
                Some(Metric::Allocations),
            ),
            kind(
                "one system call",
                "--waste-syscalls",
                (1, 2),
                Metric::Syscalls,
                Some(Metric::Syscalls),
            ),
            kind(
                "one header byte",
                "--waste-header-bytes",
                (8, 9),
                Metric::WireBytesSent,
                None,
            ),
        ])
    }

    /// The arguments of baseline and candidate.
    pub(crate) fn sides(&self) -> (String, String) {
        let side = |amount| format!("{} {amount}", self.argument);
        (side(self.amounts.0), side(self.amounts.1))
    }

    /// Whether the wasting function is the first of the list that shows it; none when there is no such list.
    pub(crate) fn is_first(&self, made: &crate::runner::Made) -> Option<bool> {
        let list = self.list?;
        let first = made.judged.functions.iter().find(|change| change.metric == list);
        Some(first.is_some_and(|change| WASTING.iter().any(|name| change.function.contains(name))))
    }
}
