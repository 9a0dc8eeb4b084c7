//! Resolves callgrind's contexts and addresses to call stacks of named functions.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use crate::count::profile::callgrind::Instructions;
use crate::count::profile::callgrind::callers::{Ways, divided};
use crate::count::profile::callgrind::context;
use crate::count::profile::callgrind::format::{Call, Context, Costs};
use crate::count::profile::callgrind::object::Object;
use crate::count::profile::frame::{Frame, Origin};
use crate::count::profile::lines::Lines;
use crate::count::profile::owner::Rule;
use crate::count::profile::stacks::{FrameId, Stacks};
use crate::count::profile::symbols::is_system;
use crate::count::profile::tree::Tree;
use crate::count::profile::{names, origin};
use wirebench_record::counts::Source;

/// The project's own function that a cost is charged to, and its line in [`Resolver::sources`] where it is known.
pub(super) type Blamed = Option<(FrameId, Option<usize>)>;

/// Facts about an address.
#[derive(Clone)]
pub(super) struct Place {
    /// The physical function; `None` without a symbol.
    physical: Option<FrameId>,
    /// The functions inlined there, outermost first.
    pub(super) chain: Rc<[FrameId]>,
    /// The innermost function of the project's there.
    pub(super) blamed: Blamed,
}

pub(super) struct Resolver<'a> {
    pub(super) read: Costs<'a>,
    tree: &'a Tree,
    pub(super) stacks: Stacks,
    objects: Vec<Object<'a>>,
    object_ids: HashMap<&'a str, usize>,
    /// Objects by whole context, for callers.
    by_context: HashMap<&'a str, &'a str>,
    /// Where a function spends by itself: its object and the lowest address, by name as written.
    bodies: HashMap<&'a str, (&'a str, u64)>,
    /// Calls by the context called.
    pub(super) calls: HashMap<usize, Vec<Call>>,
    pub(super) ways: HashMap<usize, Ways>,
    /// Physical functions by name as written and by object.
    physical: HashMap<(&'a str, Option<&'a str>), FrameId>,
    places: HashMap<(usize, u64), Place>,
    sources: Vec<Source>,
    source_ids: HashMap<Source, usize>,
}

impl<'a> Resolver<'a> {
    pub(super) fn new(read: Costs<'a>, tree: &'a Tree) -> Self {
        let contexts = read.contexts.iter();
        let by_context = contexts.map(|context| (context.text, context.object)).collect();
        let mut calls: HashMap<usize, Vec<Call>> = HashMap::new();
        for call in &read.calls {
            calls.entry(call.callee).or_default().push(*call);
        }
        Self {
            bodies: bodies(&read),
            read,
            tree,
            stacks: Stacks::new(Rule::Instructions),
            objects: Vec::new(),
            object_ids: HashMap::new(),
            by_context,
            calls,
            ways: HashMap::new(),
            physical: HashMap::new(),
            places: HashMap::new(),
            sources: Vec::new(),
            source_ids: HashMap::new(),
        }
    }

    pub(super) fn resolved(mut self) -> Instructions {
        let mut by_line: HashMap<(FrameId, usize), u64> = HashMap::new();
        for ((context, chain, blamed), cost) in self.by_place() {
            let physical = self.innermost(context);
            let ways = self.ways(context);
            for (way, cost) in divided(cost, &ways) {
                let mut stack = way.stack.clone();
                stack.extend(physical);
                stack.extend_from_slice(&chain);
                self.stacks.add(&stack, cost);
                if let Some((function, Some(source))) = blamed.or(way.blamed) {
                    let held = by_line.entry((function, source)).or_insert(0);
                    *held = held.saturating_add(cost);
                }
            }
        }
        let mut lines = Lines::default();
        for ((function, source), cost) in by_line {
            let function = &self.stacks.frames()[function.0 as usize].function;
            lines.add(function, &self.sources[source], cost);
        }
        Instructions {
            total: self.read.total,
            calls: self.times_called(),
            remarks: self.remarks(),
            stacks: self.stacks,
            lines,
        }
    }

    /// Own costs by context, by inlined functions, and by the function to blame.
    fn by_place(&mut self) -> HashMap<(usize, Rc<[FrameId]>, Blamed), u64> {
        let mut found = HashMap::new();
        for cost in std::mem::take(&mut self.read.costs) {
            let Context { text, object } = self.read.contexts[cost.context];
            let object = self.object(object);
            let unnamed = names::is_address(text.split('\'').next().unwrap_or(""));
            self.objects[object].spent(cost.instructions, unnamed);
            let Place { chain, blamed, .. } = self.place(object, cost.address);
            let held = found.entry((cost.context, chain, blamed)).or_insert(0u64);
            *held = held.saturating_add(cost.instructions);
        }
        found
    }

    /// How often each of the project's functions was called, its copies together.
    fn times_called(&mut self) -> BTreeMap<String, u64> {
        let mut found = BTreeMap::new();
        for call in std::mem::take(&mut self.read.calls) {
            let own = self.innermost(call.callee).filter(|id| is_own(&self.stacks, *id));
            if let Some(id) = own {
                let function = self.stacks.frames()[id.0 as usize].function.clone();
                let held = found.entry(function).or_insert(0u64);
                *held = held.saturating_add(call.times);
            }
        }
        found
    }

    fn remarks(&self) -> Vec<String> {
        let objects = self.objects.iter();
        let mut remarks: Vec<String> = objects.filter_map(|object| object.remark(self.read.total)).collect();
        let sum = self.stacks.total();
        if sum != self.read.total {
            remarks.push(format!(
                "the functions add up to {sum} instructions, callgrind counted {}",
                self.read.total
            ));
        }
        remarks
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
    pub(super) fn place(&mut self, object: usize, address: u64) -> Place {
        if let Some(place) = self.places.get(&(object, address)) {
            return place.clone();
        }
        let symbols = self.objects[object].symbols.as_mut();
        let around = symbols.map(|symbols| symbols.around(address)).unwrap_or_default();
        let mut lines: Vec<Option<usize>> = Vec::new();
        for source in around.lines {
            lines.push(source.map(|source| self.source(source)));
        }
        let line = |depth: usize| lines.get(depth).copied().flatten();
        let physical = around.physical.map(|frame| self.stacks.frame(frame));
        let chain: Rc<[FrameId]> = around
            .inlined
            .into_iter()
            .map(|frame| self.stacks.frame(frame))
            .collect();
        let all = physical
            .iter()
            .map(|id| (0, *id))
            .chain((1..).zip(chain.iter().copied()));
        let own = all.filter(|(_, id)| is_own(&self.stacks, *id)).last();
        let place = Place {
            physical,
            blamed: own.map(|(depth, id)| (id, line(depth))),
            chain,
        };
        self.places.insert((object, address), place.clone());
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
    pub(super) fn innermost(&mut self, context: usize) -> Option<FrameId> {
        let Context { text, object } = self.read.contexts[context];
        let (name, _) = *context::frames(text).first()?;
        Some(self.physical(name, Some(object)))
    }

    /// The callers that a context's text names, outermost first.
    pub(super) fn named_callers(&mut self, context: usize) -> Vec<FrameId> {
        let parts = context::frames(self.read.contexts[context].text);
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
        self.place(object, address).physical
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
        let origin = match origin::of(&function, None) {
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

/// Where each function spends by itself; of several places one that has line tables, then the lowest.
fn bodies<'a>(read: &Costs<'a>) -> HashMap<&'a str, (&'a str, u64)> {
    let contexts = read.contexts.iter();
    let names: Vec<&str> = contexts.map(|context| context::frames(context.text)[0].0).collect();
    let mut bodies: HashMap<&str, (&str, u64)> = HashMap::new();
    for cost in &read.costs {
        let place = (read.contexts[cost.context].object, cost.address);
        let order = |(object, address): (&'a str, u64)| (is_system(object), object, address);
        let held = bodies.entry(names[cost.context]).or_insert(place);
        if order(place) < order(*held) {
            *held = place;
        }
    }
    bodies
}

pub(super) fn is_own(stacks: &Stacks, id: FrameId) -> bool {
    stacks.frames()[id.0 as usize].origin == Origin::Project
}
