//! Resolves callgrind's contexts and addresses to named functions.
//!
//! One program or library that callgrind names: its symbols, and how much of its code has no names.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

use crate::count::profile::callgrind::format::{Context, Cost, context_frames};
use crate::count::profile::frame::{Frame, Origin, Rule};
use crate::count::profile::names;
use crate::count::profile::stacks::{FrameId, Stacks};
use crate::count::profile::symbols::{Symbols, is_system};
use crate::count::profile::tree::Tree;
use wirebench_record::counts::Source;

/// The project's own function that a cost is charged to, and its line if it is known.
pub(super) type Blamed = Option<(FrameId, Option<Rc<Source>>)>;

/// The functions at an address.
#[derive(Clone)]
pub(super) struct AddressFunctions {
    /// The physical function; `None` without a symbol.
    physical: Option<FrameId>,
    /// The functions inlined there, outermost first.
    pub(super) inlined: Rc<[FrameId]>,
    /// The innermost of them that is the project's.
    pub(super) blamed: Blamed,
}

/// The functions of one file, each looked up once.
pub(super) struct Functions<'a> {
    pub(super) contexts: Vec<Context<'a>>,
    tree: &'a Tree,
    pub(super) stacks: Stacks,
    pub(super) objects: Vec<Object<'a>>,
    object_ids: HashMap<&'a str, usize>,
    /// Objects by whole context, for callers.
    by_context: HashMap<&'a str, &'a str>,
    /// The place of a function's own code: its object and the lowest address, by name as written.
    bodies: HashMap<&'a str, (&'a str, u64)>,
    /// Physical functions by name as written and by object.
    physical: HashMap<(&'a str, Option<&'a str>), FrameId>,
    by_address: HashMap<(usize, u64), AddressFunctions>,
}

impl<'a> Functions<'a> {
    pub(super) fn new(contexts: Vec<Context<'a>>, costs: &[Cost], tree: &'a Tree, rule: Rule) -> Self {
        Self {
            by_context: contexts.iter().map(|context| (context.text, context.object)).collect(),
            bodies: bodies(&contexts, costs),
            contexts,
            tree,
            stacks: Stacks::new(rule),
            objects: Vec::new(),
            object_ids: HashMap::new(),
            physical: HashMap::new(),
            by_address: HashMap::new(),
        }
    }

    /// Whether a function is the project's own.
    pub(super) fn is_own(&self, id: FrameId) -> bool {
        self.stacks.frames()[id.0 as usize].origin == Origin::Project
    }

    pub(super) fn name(&self, id: FrameId) -> &str {
        &self.stacks.frames()[id.0 as usize].function
    }

    pub(super) fn object(&mut self, path: &'a str) -> usize {
        if let Some(&id) = self.object_ids.get(path) {
            return id;
        }
        self.objects.push(Object::open(path, self.tree));
        self.object_ids.insert(path, self.objects.len() - 1);
        self.objects.len() - 1
    }

    /// The functions at an address, looked up once.
    pub(super) fn functions_at(&mut self, object: usize, address: u64) -> AddressFunctions {
        if let Some(functions) = self.by_address.get(&(object, address)) {
            return functions.clone();
        }
        let symbols = self.objects[object].symbols.as_mut();
        let found = symbols.map(|symbols| symbols.functions_at(address)).unwrap_or_default();
        let (mut physical, mut inlined, mut blamed) = (None, Vec::new(), None);
        for (depth, (frame, source)) in found.into_iter().enumerate() {
            let Some(id) = frame.map(|frame| self.stacks.frame(frame)) else {
                continue;
            };
            if depth == 0 {
                physical = Some(id);
            } else {
                inlined.push(id);
            }
            if self.is_own(id) {
                blamed = Some((id, source.map(Rc::new)));
            }
        }
        let functions = AddressFunctions {
            physical,
            inlined: inlined.into(),
            blamed,
        };
        self.by_address.insert((object, address), functions.clone());
        functions
    }

    /// The physical function of a context, without its callers.
    pub(super) fn innermost(&mut self, context: usize) -> Option<FrameId> {
        let Context { text, object } = self.contexts[context];
        let (name, _) = *context_frames(text).first()?;
        Some(self.physical(name, Some(object)))
    }

    /// The callers that a context's text names, outermost first.
    pub(super) fn named_callers(&mut self, context: usize) -> Vec<FrameId> {
        let parts = context_frames(self.contexts[context].text);
        let callers = parts.iter().skip(1).rev();
        callers
            .map(|&(name, own_context)| self.physical(name, self.by_context.get(own_context).copied()))
            .collect()
    }

    fn physical(&mut self, name: &'a str, object: Option<&'a str>) -> FrameId {
        // Only an address needs its object: a name is the same function wherever it is called from.
        let object = object.filter(|_| names::is_address(name));
        if let Some(&id) = self.physical.get(&(name, object)) {
            return id;
        }
        let id = match self.body(name) {
            Some(id) => id,
            None => {
                let frame = self.unlisted(name, object);
                self.stacks.frame(frame)
            }
        };
        self.physical.insert((name, object), id);
        id
    }

    /// A function as the line tables name it.
    fn body(&mut self, name: &'a str) -> Option<FrameId> {
        let &(path, address) = self.bodies.get(name).filter(|_| !names::is_address(name))?;
        let object = self.object(path);
        self.functions_at(object, address).physical
    }

    /// A function of which there is only the name that callgrind gives it.
    fn unlisted(&self, name: &str, object: Option<&str>) -> Frame {
        let program = object.and_then(|path| path.rsplit('/').next());
        let program = program.filter(|program| *program != "???");
        let function = if names::is_address(name) {
            names::of_address(name, program)
        } else {
            names::clean(name)
        };
        let is_systems = self.bodies.get(name).is_some_and(|(path, _)| is_system(path));
        let origin = match names::origin_of(&function, None) {
            Origin::Foreign if is_systems => Origin::Standard,
            origin => origin,
        };
        Frame {
            function,
            origin,
            inlined: false,
        }
    }
}

/// The place of each function's own code; of several places one that has line tables, then the most expensive: after a program went
/// to another stack, callgrind takes a little of other functions' code for the function's.
fn bodies<'a>(contexts: &[Context<'a>], costs: &[Cost]) -> HashMap<&'a str, (&'a str, u64)> {
    let names = contexts.iter().map(|context| context_frames(context.text)[0].0);
    let names: Vec<&str> = names.collect();
    let mut places: HashMap<(&str, &str, u64), u64> = HashMap::new();
    for cost in costs {
        let place = (names[cost.context], contexts[cost.context].object, cost.address);
        let sum = places.entry(place).or_insert(0);
        *sum = sum.saturating_add(cost.amount);
    }
    let mut bodies: HashMap<&str, ((&str, u64), u64)> = HashMap::new();
    for ((name, object, address), cost) in places {
        let order =
            |((object, address), cost): ((&'a str, u64), u64)| (is_system(object), object, Reverse(cost), address);
        let place = ((object, address), cost);
        let kept = bodies.entry(name).or_insert(place);
        if order(place) < order(*kept) {
            *kept = place;
        }
    }
    bodies.into_iter().map(|(name, (place, _))| (name, place)).collect()
}

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
