//! Reads the output of `valgrind --tool=dhat --num-callers=N`: allocations by call stack.
//!
//! DHAT names inlined functions in short only (`new<T>`), so the frames of the program are looked up in its line tables by
//! their addresses; frames of libraries keep the names that DHAT gives them.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::count::profile::error::text_of;
use crate::count::profile::frame::{Frame, Origin, Rule};
use crate::count::profile::names;
use crate::count::profile::stacks::{FrameId, RunCost, Stacks};
use crate::count::profile::symbols::{Symbols, is_system, load_offset};
use crate::count::profile::tree::Tree;
use wirebench_record::counts::Source;

/// The allocations of one run, freed ones included.
#[derive(Debug, Clone)]
pub struct Allocated {
    /// The number of blocks.
    pub blocks: RunCost,
    /// Their requested size in bytes.
    pub bytes: RunCost,
}

impl Allocated {
    /// Adds the costs of another process of the same run.
    pub fn absorb(&mut self, other: &Self) {
        self.blocks.absorb(&other.blocks);
        self.bytes.absorb(&other.bytes);
    }
}

/// The parts of DHAT's JSON that are used.
#[derive(Deserialize)]
struct Document {
    #[serde(rename = "dhatFileVersion")]
    version: u32,
    mode: String,
    cmd: String,
    pps: Vec<Point>,
    ftbl: Vec<String>,
}

/// One place that allocates.
#[derive(Deserialize)]
struct Point {
    tb: u64,
    tbk: u64,
    fs: Vec<usize>,
}

/// Reads a file, and the line tables of the program that it names, if it still exists. `tree` says which
/// sources are the project's own.
///
/// # Errors
/// A file that cannot be read, that is not DHAT's heap profile, version 2, or was cut off.
pub fn read(file: &Path, tree: &Tree) -> Result<Allocated, String> {
    let text = text_of(file)?;
    let whole = |wrong: String| format!("{}: {wrong}", file.display());
    let document: Document = serde_json::from_str(&text).map_err(|error| {
        whole(format!(
            "not what valgrind's DHAT writes, or cut off ({error}); stop the server with SIGINT or SIGTERM and wait, and count anew"
        ))
    })?;
    if document.version != 2 || document.mode != "heap" {
        return Err(whole(format!(
            "expected DHAT's file version 2 in mode heap, found version {} in mode {}; use `valgrind --tool=dhat` of valgrind 3.17 or later",
            document.version, document.mode
        )));
    }
    let mut resolver = Resolver::new(&document, tree);
    let mut allocated = Allocated {
        blocks: RunCost::new(Stacks::new(Rule::Allocations), 0),
        bytes: RunCost::new(Stacks::new(Rule::Allocations), 0),
    };
    for point in &document.pps {
        let Some(stack) = resolver.stack(&point.fs) else {
            return Err(whole(format!(
                "a stack names frame {:?} of {}; count anew",
                point.fs.iter().max(),
                document.ftbl.len()
            )));
        };

        let frames: Vec<&Frame> = stack.iter().map(|(frame, _)| frame).collect();
        let blamed = stack.iter().rfind(|(frame, _)| frame.origin == Origin::Project);
        for (sum, cost) in [(&mut allocated.blocks, point.tbk), (&mut allocated.bytes, point.tb)] {
            let ids: Vec<FrameId> = frames.iter().map(|&frame| sum.stacks.frame(frame.clone())).collect();
            sum.total = sum.total.saturating_add(cost);
            sum.stacks.add(&ids, cost.into());
            if let Some((frame, Some(source))) = blamed {
                sum.add_line(&frame.function, source, cost);
            }
        }
    }
    Ok(allocated)
}

/// The program's symbols, and the difference between process addresses and its own.
struct Program {
    symbols: Symbols,
    offset: u64,
}

/// A function in a stack, and its line in the project's own sources.
type Placed = (Frame, Option<Source>);

struct Resolver<'a> {
    frames: Vec<DhatFrame<'a>>,
    program: Option<Program>,
    resolved: HashMap<u64, Vec<Placed>>,
}

impl<'a> Resolver<'a> {
    fn new(document: &'a Document, tree: &Tree) -> Self {
        let frames: Vec<DhatFrame<'_>> = document.ftbl.iter().map(|text| DhatFrame::new(text)).collect();
        let path = program(&document.cmd, &frames);
        let program = path.as_deref().and_then(|path| opened(path, &frames, tree));
        Self {
            frames,
            program: program.filter(|program| program.symbols.has_lines),
            resolved: HashMap::new(),
        }
    }

    /// A stack outermost frame first, from positions in the table, innermost first; `None` if a position is not in the
    /// table.
    fn stack(&mut self, positions: &[usize]) -> Option<Vec<Placed>> {
        let mut stack = Vec::new();
        let mut rest = positions;
        while let Some(&first) = rest.first() {
            let address = self.frames.get(first)?.address;
            // The frames at one address are one physical function and the functions inlined there.
            let same =
                |&at: &usize| address.is_some() && self.frames.get(at).is_some_and(|frame| frame.address == address);
            let length = rest.iter().take_while(|at| same(at)).count().max(1);
            let (group, after) = rest.split_at(length);
            match address.and_then(|address| self.frames_at(address)) {
                Some(frames) => {
                    // A function that calls itself from one place occurs as often as its own frame.
                    let times = group.iter().filter(|at| **at == group[length - 1]).count();
                    for _ in 0..times {
                        stack.extend(frames.iter().rev().cloned());
                    }
                }
                None => {
                    for (at, &position) in group.iter().enumerate() {
                        stack.extend(self.frames[position].frame(at + 1 < length).map(|frame| (frame, None)));
                    }
                }
            }
            rest = after;
        }
        stack.reverse();
        Some(stack)
    }

    /// The frames at an address of the program, outermost first.
    fn frames_at(&mut self, address: u64) -> Option<Vec<Placed>> {
        if let Some(frames) = self.resolved.get(&address) {
            return Some(frames.clone());
        }
        let program = self.program.as_mut()?;
        let own = address
            .checked_sub(program.offset)
            .filter(|own| program.symbols.holds(*own))?;
        let found = program.symbols.functions_at(own).into_iter();
        let frames: Option<Vec<Placed>> = found.map(|(frame, source)| Some((frame?, source))).collect();
        let frames = frames?;
        self.resolved.insert(address, frames.clone());
        Some(frames)
    }
}

fn opened(path: &Path, frames: &[DhatFrame<'_>], tree: &Tree) -> Option<Program> {
    let seen: Vec<(u64, String)> = frames
        .iter()
        .filter_map(|frame| Some((frame.address?, names::clean(frame.name))))
        .collect();
    let offset = load_offset(path, &seen)?;
    let symbols = Symbols::open(path, tree)?;
    Some(Program { symbols, offset })
}

/// A frame as DHAT writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DhatFrame<'a> {
    /// The address in the process; `None` for the root of all stacks.
    pub(super) address: Option<u64>,
    /// The function, or `???`.
    pub(super) name: &'a str,
    /// Its source file, perhaps without folders.
    pub(super) file: Option<&'a str>,
    /// The program or library it is in, given if there is no source file.
    pub(super) object: Option<&'a str>,
}

impl<'a> DhatFrame<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let (address, rest) = match text.split_once(": ") {
            Some((address, rest)) => (address.strip_prefix("0x"), rest),
            None => (None, text),
        };
        let address = address.and_then(|digits| u64::from_str_radix(digits, 16).ok());
        let place = rest.strip_suffix(')').and_then(|rest| rest.rsplit_once(" ("));
        let (name, file, object) = match place {
            Some((name, place)) => match place.strip_prefix("in ") {
                Some(object) => (name, None, Some(object)),
                None => match place.rsplit_once(':') {
                    Some((file, line)) if !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit()) => {
                        (name, Some(file), None)
                    }
                    _ => (rest, None, None),
                },
            },
            None => (rest, None, None),
        };
        Self {
            address,
            name,
            file,
            object,
        }
    }

    /// The frame of this entry; `None` for the root.
    pub(super) fn frame(&self, inlined: bool) -> Option<Frame> {
        let address = self.address?;
        let function = if names::is_address(self.name) {
            let object = self.object.and_then(|path| path.rsplit('/').next());
            names::of_address(&format!("{address:x}"), object)
        } else {
            names::clean(self.name)
        };
        // A bare file name does not identify the folder.
        let origin = names::origin_of(&function, self.file.filter(|file| file.contains('/')));
        Some(Frame {
            function,
            origin,
            inlined,
        })
    }
}

/// The file of the program: the beginning of its command line that is a file, else an object of its own that frames name.
pub(super) fn program(command: &str, frames: &[DhatFrame<'_>]) -> Option<PathBuf> {
    let mut ends: Vec<usize> = command.match_indices(' ').map(|(at, _)| at).collect();
    ends.push(command.len());
    let beginnings = ends.into_iter().map(|end| &command[..end]);
    let objects = frames.iter().filter_map(|frame| frame.object);
    let objects = objects.filter(|path| !is_system(path));
    let mut candidates = beginnings.chain(objects).map(Path::new);
    candidates.find(|path| path.is_file()).map(Path::to_owned)
}
