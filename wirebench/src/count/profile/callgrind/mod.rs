//! Reads what `valgrind --tool=callgrind --dump-instr=yes --separate-callers=N` writes: instructions by call stack.
//!
//! Callgrind writes every function once per calling context, so own costs by whole stack are read off and nothing is
//! guessed from call edges. Inlined functions are in the program's line tables only: each address of the server's own files
//! is looked up there. Callers are given as physical functions; what was inlined shows at the innermost one.

mod context;
mod format;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::Path;

use crate::count::profile::callgrind::format::{Context, Costs};
use crate::count::profile::error::{ProfileError, text_of};
use crate::count::profile::frame::{Frame, Origin};
use crate::count::profile::lines::Lines;
use crate::count::profile::owner::Rule;
use crate::count::profile::stacks::{FrameId, Stacks};
use crate::count::profile::symbols::{Symbols, is_system};
use crate::count::profile::tree::Tree;
use crate::count::profile::{names, origin};
use crate::record::counts::Source;

/// The share of a run's instructions below which nothing is remarked, in percent.
const REMARKED_PERCENT: u64 = 1;

/// The instructions of one run.
#[derive(Debug, Clone)]
pub struct Instructions {
    /// All instructions that callgrind counted.
    pub total: u64,
    /// The same by call stack.
    pub stacks: Stacks,
    /// Own costs by line of the project's own sources.
    pub lines: Lines,
    /// What to know before trusting the names, one sentence each.
    pub remarks: Vec<String>,
}

impl Instructions {
    /// Adds those of another process of the same run.
    pub fn absorb(&mut self, other: Self) {
        self.total = self.total.saturating_add(other.total);
        self.stacks.absorb(&other.stacks);
        self.lines.absorb(&other.lines);
        self.remarks.extend(other.remarks);
    }
}

/// Reads a file, and the line tables of the programs that it names, where they are still in their places. `tree` says which
/// sources are the project's own.
///
/// # Errors
/// A file that cannot be read, that is not callgrind's, was written without `--dump-instr=yes`, or was cut off.
pub fn read(file: &Path, tree: &Tree) -> Result<Instructions, ProfileError> {
    let text = text_of(file)?;
    Ok(Resolver::new(format::parse(file, &text)?, tree).resolved())
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

/// What is known of one object file.
struct Object<'a> {
    path: &'a str,
    symbols: Option<Symbols>,
    instructions: u64,
    unnamed: u64,
}

impl<'a> Object<'a> {
    fn open(path: &'a str, tree: &Tree) -> Self {
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

    fn spent(&mut self, instructions: u64, unnamed: bool) {
        self.instructions = self.instructions.saturating_add(instructions);
        if unnamed {
            self.unnamed = self.unnamed.saturating_add(instructions);
        }
    }

    /// Its file's name; none for code of no file.
    fn name(&self) -> Option<&'a str> {
        self.path
            .rsplit('/')
            .next()
            .filter(|name| !name.is_empty() && *name != "???")
    }

    fn remark(&self, total: u64) -> Option<String> {
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

/// What is known of an address.
#[derive(Clone, Copy)]
struct Place {
    /// What was inlined there, as a number that is the same for equal chains.
    chain: usize,
    /// The function whose own cost it is; none for the physical one.
    owner: Option<FrameId>,
    /// The line of that function, in [`Resolver::sources`]; none for code that is not the project's own.
    source: Option<usize>,
}

struct Resolver<'a> {
    read: Costs<'a>,
    tree: &'a Tree,
    stacks: Stacks,
    objects: Vec<Object<'a>>,
    object_ids: HashMap<&'a str, usize>,
    /// Objects by whole context, for callers.
    by_context: HashMap<&'a str, &'a str>,
    /// Physical functions by name as written and by object.
    physical: HashMap<(&'a str, Option<&'a str>), FrameId>,
    places: HashMap<(usize, u64), Place>,
    sources: Vec<Source>,
    source_ids: HashMap<Source, usize>,
    chain_ids: HashMap<Vec<FrameId>, usize>,
}

impl<'a> Resolver<'a> {
    fn new(read: Costs<'a>, tree: &'a Tree) -> Self {
        let by_context = read
            .contexts
            .iter()
            .map(|context| (context.text, context.object))
            .collect();
        Self {
            read,
            tree,
            stacks: Stacks::new(Rule::Instructions),
            objects: Vec::new(),
            object_ids: HashMap::new(),
            by_context,
            physical: HashMap::new(),
            places: HashMap::new(),
            sources: Vec::new(),
            source_ids: HashMap::new(),
            chain_ids: HashMap::new(),
        }
    }

    fn resolved(mut self) -> Instructions {
        let mut by_chain: HashMap<(usize, usize), u64> = HashMap::new();
        let mut by_line: HashMap<(FrameId, usize), u64> = HashMap::new();
        let mut innermost: HashMap<usize, Option<FrameId>> = HashMap::new();
        for cost in std::mem::take(&mut self.read.costs) {
            let Context { text, object } = self.read.contexts[cost.context];
            let object = self.object(object);
            let unnamed = names::is_address(text.split('\'').next().unwrap_or(""));
            self.objects[object].spent(cost.instructions, unnamed);
            let Place { chain, owner, source } = self.place(object, cost.address);
            if let Some(source) = source {
                let physical = || {
                    *innermost
                        .entry(cost.context)
                        .or_insert_with(|| self.innermost(cost.context))
                };
                let owner = owner.or_else(physical);
                let held = owner.map(|owner| by_line.entry((owner, source)).or_insert(0));
                held.into_iter()
                    .for_each(|held| *held = held.saturating_add(cost.instructions));
            }
            let held = by_chain.entry((cost.context, chain)).or_insert(0);
            *held = held.saturating_add(cost.instructions);
        }
        let chains: HashMap<usize, Vec<FrameId>> = std::mem::take(&mut self.chain_ids)
            .into_iter()
            .map(|(chain, id)| (id, chain))
            .collect();
        let mut callers: HashMap<usize, Vec<FrameId>> = HashMap::new();
        for ((context, chain), cost) in by_chain {
            let mut stack = callers
                .entry(context)
                .or_insert_with(|| self.physical_stack(context))
                .clone();
            stack.extend_from_slice(chains.get(&chain).map_or(&[], Vec::as_slice));
            self.stacks.add(&stack, cost);
        }
        let mut lines = Lines::default();
        for ((owner, source), cost) in by_line {
            let function = &self.stacks.frames()[owner.0 as usize].function;
            lines.add(function, &self.sources[source], cost);
        }
        let mut remarks: Vec<String> = self
            .objects
            .iter()
            .filter_map(|object| object.remark(self.read.total))
            .collect();
        let sum = self.stacks.total();
        if sum != self.read.total {
            remarks.push(format!(
                "the functions add up to {sum} instructions, callgrind counted {}",
                self.read.total
            ));
        }
        Instructions {
            total: self.read.total,
            stacks: self.stacks,
            lines,
            remarks,
        }
    }

    fn object(&mut self, path: &'a str) -> usize {
        if let Some(&id) = self.object_ids.get(path) {
            return id;
        }
        self.objects.push(Object::open(path, self.tree));
        self.object_ids.insert(path, self.objects.len() - 1);
        self.objects.len() - 1
    }

    /// What is at an address, looked up once.
    fn place(&mut self, object: usize, address: u64) -> Place {
        if let Some(&place) = self.places.get(&(object, address)) {
            return place;
        }
        let symbols = self.objects[object].symbols.as_mut();
        let around = symbols.map(|symbols| symbols.around(address)).unwrap_or_default();
        // As [`Rule::Instructions`] charges it: the innermost function that is not the standard library's.
        let charged = around.inlined.iter().rposition(|frame| frame.origin == Origin::Own);
        let line = charged.map_or(0, |place| place + 1);
        let source = around
            .lines
            .get(line)
            .cloned()
            .flatten()
            .map(|source| self.source(source));
        let chain: Vec<FrameId> = around
            .inlined
            .into_iter()
            .map(|frame| self.stacks.frame(frame))
            .collect();
        let owner = charged.map(|place| chain[place]);
        let next = self.chain_ids.len();
        let chain = *self.chain_ids.entry(chain).or_insert(next);
        let place = Place { chain, owner, source };
        self.places.insert((object, address), place);
        place
    }

    fn source(&mut self, source: Source) -> usize {
        if let Some(&id) = self.source_ids.get(&source) {
            return id;
        }
        self.sources.push(source.clone());
        self.source_ids.insert(source, self.sources.len() - 1);
        self.sources.len() - 1
    }

    /// The physical function of a context.
    fn innermost(&mut self, context: usize) -> Option<FrameId> {
        let Context { text, object } = self.read.contexts[context];
        let (name, _) = *context::frames(text).first()?;
        Some(self.physical(name, Some(object)))
    }

    /// A context's functions, outermost first.
    fn physical_stack(&mut self, context: usize) -> Vec<FrameId> {
        let Context { text, object } = self.read.contexts[context];
        let parts = context::frames(text);
        let mut stack: Vec<FrameId> = parts
            .iter()
            .enumerate()
            .map(|(at, &(name, own_context))| {
                let object = match at {
                    0 => Some(object),
                    _ if names::is_address(name) => self.by_context.get(own_context).copied(),
                    _ => None,
                };
                self.physical(name, object)
            })
            .collect();
        stack.reverse();
        stack
    }

    fn physical(&mut self, name: &'a str, object: Option<&'a str>) -> FrameId {
        // Only an address needs its object: a name is the same function wherever it is called from.
        let object = object.filter(|_| names::is_address(name));
        if let Some(&id) = self.physical.get(&(name, object)) {
            return id;
        }
        let program = object
            .and_then(|path| path.rsplit('/').next())
            .filter(|program| *program != "???");
        let function = if names::is_address(name) {
            names::of_address(name, program)
        } else {
            names::clean(name)
        };
        let origin = origin::of(&function, None);
        let id = self.stacks.frame(Frame {
            function,
            origin,
            inlined: false,
        });
        self.physical.insert((name, object), id);
        id
    }
}
