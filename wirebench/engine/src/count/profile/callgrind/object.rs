//! One program or library that callgrind names: its symbols, and how much of its code has no names.

use std::path::Path;

use crate::count::profile::symbols::{Symbols, is_system};
use crate::count::profile::tree::Tree;

/// Below this share of a run's instructions there is no remark, percent.
const REMARKED_PERCENT: u64 = 1;

/// Facts about one object file.
pub(super) struct Object<'a> {
    path: &'a str,
    pub(super) symbols: Option<Symbols>,
    instructions: u64,
    unnamed: u64,
}

impl<'a> Object<'a> {
    pub(super) fn open(path: &'a str, tree: &Tree) -> Self {
        let own = path.starts_with('/') && !is_system(path);
        Self {
            path,
            symbols: if own {
                Symbols::open(Path::new(path), tree)
            } else {
                None
            },
            instructions: 0,
            unnamed: 0,
        }
    }

    pub(super) fn spent(&mut self, instructions: u64, unnamed: bool) {
        self.instructions = self.instructions.saturating_add(instructions);
        if unnamed {
            self.unnamed = self.unnamed.saturating_add(instructions);
        }
    }

    /// Its file's name; `None` for code without a file.
    fn name(&self) -> Option<&'a str> {
        self.path
            .rsplit('/')
            .next()
            .filter(|name| !name.is_empty() && *name != "???")
    }

    pub(super) fn remark(&self, total: u64) -> Option<String> {
        let share = |part: u64, whole: u64| u128::from(part) * 100 / u128::from(whole.max(1));
        let percent = share(self.instructions, total);
        if percent < u128::from(REMARKED_PERCENT) || is_system(self.path) {
            return None;
        }
        let Some(name) = self.name() else {
            return Some(format!(
                "{percent} % of the instructions ran in code of no file, as a JIT compiler makes it: its functions are addresses"
            ));
        };
        if share(self.unnamed, self.instructions) >= 50 {
            return Some(format!(
                "{name} has no symbols: its functions are addresses; build it with debug = \"line-tables-only\" and without strip"
            ));
        }
        let lines = self.symbols.as_ref().is_some_and(|symbols| symbols.has_lines);
        (!lines).then(|| {
            format!(
                "{name} has no line tables: inlined functions are not named; build it with debug = \"line-tables-only\""
            )
        })
    }
}
