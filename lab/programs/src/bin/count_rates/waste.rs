//! The kinds of waste, and the counts that have to show them.

use anyhow::Context as _;
use wirebench_record::metric::Metric;

use crate::runner::{Compared, Runner, Server};

/// The arguments of an unchanged server: none.
pub(crate) const PLAIN: &str = "";
/// The prefix of the names of all wasting functions, and the system call that they waste.
const WASTING: [&str; 2] = ["server_runtime::waste::", "getppid"];
/// The number of instructions that servers waste is a multiple of this.
const STEP: f64 = 5.0;

/// One kind of waste. Both sides waste something, so that only the amount differs.
#[derive(Debug)]
pub(crate) struct Kind {
    /// Its description.
    pub(crate) name: String,
    argument: &'static str,
    amounts: (u64, u64),
    /// The count that has to grow.
    pub(crate) metric: Metric,
    /// The list of functions or system calls whose first entry has to be the wasting one; `None` if no list can show it.
    list: Option<Metric>,
}

impl Kind {
    /// All kinds. The instructions are 1 % of what a request costs when the server wastes almost none.
    pub(crate) fn all(runner: &Runner, server: Server) -> anyhow::Result<Vec<Self>> {
        let least = "--waste-instructions 5";
        let compared = runner.compare(server, least, least)?;
        let figure = compared.counts[0].value(Metric::Instructions);
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

    /// Whether the wasting function is the first in its list; `None` if there is no list.
    pub(crate) fn is_first(&self, compared: &Compared) -> Option<bool> {
        let list = self.list?;
        let first = compared.judged.functions.iter().find(|change| change.metric == list);
        Some(first.is_some_and(|change| WASTING.iter().any(|name| change.function.contains(name))))
    }
}
