//! Reads the output of `valgrind --tool=callgrind --dump-instr=yes --separate-callers=N`: instructions by call stack.
//!
//! Callgrind writes every function once per calling context, so own costs by whole stack of physical functions are read off.
//! Inlined functions are in the program's line tables only: each address of the server's own files is looked up there. At
//! the innermost function the whole chain is shown; at its callers, the project's own functions that were inlined around the
//! call. The cost of a context that is called from several places is split in proportion to the cost of the calls from each.

mod call_paths;
mod context;
mod format;
mod functions;
mod instructions;
mod object;
mod resolver;
#[cfg(test)]
mod tests;

pub use instructions::Instructions;

use std::path::Path;

use self::resolver::resolve;
use crate::count::profile::error::{ProfileError, text_of};
use crate::count::profile::tree::Tree;

/// Reads a file, and the line tables of the programs that it names, if they still exist. `tree` says which
/// sources are the project's own.
///
/// # Errors
/// A file that cannot be read, that is not callgrind's, was written without `--dump-instr=yes`, or was cut off.
pub fn read(file: &Path, tree: &Tree) -> Result<Instructions, ProfileError> {
    let text = text_of(file)?;
    Ok(resolve(format::parse(file, &text)?, tree))
}

/// Reads only how many instructions a run took in all: the sum over every part of the file.
///
/// # Errors
/// A file that cannot be read, is not callgrind's, or was cut off.
pub fn total(file: &Path) -> Result<u64, ProfileError> {
    let text = text_of(file)?;
    let totals = text.lines().filter_map(|line| line.strip_prefix("totals:"));
    let sum = totals
        .map(|number| number.trim().parse::<u64>().ok())
        .try_fold(0, |sum: u64, number| Some(sum.saturating_add(number?)));
    match sum {
        Some(sum) if sum > 0 => Ok(sum),
        _ => Err(ProfileError::Whole {
            file: file.to_owned(),
            wrong: "has no `totals:` line: valgrind was killed while writing; stop the server with SIGINT or SIGTERM and wait"
                .into(),
        }),
    }
}
