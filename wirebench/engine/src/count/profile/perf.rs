//! Reads what `perf record` wrote of a server run: the CPU time of its functions, sampled, or the time that its threads waited.
//!
//! A sample belongs to the innermost of the project's own functions on its stack, however deep the code is that it calls; without
//! one, to the function that ran. Code that was made at run time has its names in `/tmp/perf-PID.map`.
//! A thread waits from the switch away from it to the switch back.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io::BufReader;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use linux_perf_data::linux_perf_event_reader::{ContextSwitchRecord, EventRecord, SampleRecord, TaskWasPreempted};
use linux_perf_data::{PerfFileReader, PerfFileRecord};
use regex::Regex;

use crate::count::profile::per_request::folded_name;
use crate::count::profile::symbols::{Symbols, is_system};
use crate::count::profile::tree::Tree;
use crate::count::profile::unwind::{UnwindTables, Unwinder};
use crate::count::profile::waits;
use crate::count::work::is_others;
use wirebench_record::counts::Source;
use wirebench_record::metric::Metric;

/// Addresses from here on are marks in a call chain, not code (`PERF_CONTEXT_MAX` in `linux/perf_event.h`).
const MARKS_FROM: u64 = 4096_u64.wrapping_neg();
/// What follows this mark is code of the program (`PERF_CONTEXT_USER`); before it, code of the kernel.
const USER: u64 = 512_u64.wrapping_neg();

/// The name of all code without a name.
pub const NO_SYMBOL: &str = "(no symbol)";

/// A function, and its file in the repository if it is the project's own.
pub type SampledFunction = (String, Option<String>);

/// The sampled time of a server run, ns.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct SampledTime {
    /// Of each function by line (0 where it is not known).
    pub by_function: HashMap<SampledFunction, BTreeMap<u32, u64>>,
    /// Of each call stack, `outermost;…;innermost`.
    pub by_stack: BTreeMap<String, u64>,
}

/// What runs at an address.
#[derive(Debug, Default)]
struct Code {
    name: Option<String>,
    /// The project's own function, with its file and line.
    own: Option<(String, Source)>,
}

impl Code {
    /// The name in a call stack.
    fn known_as(&self) -> &str {
        let own = self.own.as_ref().map(|(name, _)| name);
        own.or(self.name.as_ref()).map_or(NO_SYMBOL, String::as_str)
    }
}

/// A part of a file in the address space of a process.
#[derive(Debug, Clone)]
struct Mapping {
    end: u64,
    offset: u64,
    path: Rc<str>,
}

/// Reads the profiles of one side: its programs are opened once.
pub struct PerfReader<'a> {
    /// CPU time, or else waiting.
    metric: Metric,
    /// Which sources are the project's own.
    tree: &'a Tree,
    /// How runtimes name functions whose code they make; see [`wirebench_declare::runtime::UnderPerf`].
    frames: &'a [Regex],
    /// Where functions are that were counted, by name.
    counted: &'a BTreeMap<String, Source>,
    files: HashMap<Rc<str>, Option<Symbols>>,
    tables: UnwindTables,
    known: HashMap<(Rc<str>, u64), Rc<Code>>,
}

impl<'a> PerfReader<'a> {
    /// A reader that has opened nothing yet.
    pub fn new(metric: Metric, tree: &'a Tree, frames: &'a [Regex], counted: &'a BTreeMap<String, Source>) -> Self {
        Self {
            metric,
            tree,
            frames,
            counted,
            files: HashMap::new(),
            tables: UnwindTables::default(),
            known: HashMap::new(),
        }
    }

    /// Adds up the samples of a file that lie within a span of `CLOCK_MONOTONIC`, ns, and removes the maps that its processes left.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read(&mut self, file: &Path, within: &Range<u64>) -> Result<SampledTime, String> {
        let wrong = |error: &dyn std::fmt::Display| format!("{}: cannot be read: {error}", file.display());
        let opened = File::open(file).map_err(|error| wrong(&error))?;
        let reader = PerfFileReader::parse_file(BufReader::new(opened)).map_err(|error| wrong(&error))?;
        let (mut perf_file, mut records) = (reader.perf_file, reader.record_iter);
        let mut processes: HashMap<i32, Process> = HashMap::new();
        let mut time = SampledTime::default();
        let mut asleep: HashMap<i32, (u64, Option<SampledPlace>)> = HashMap::new();
        while let Some(record) = records.next_record(&mut perf_file).map_err(|error| wrong(&error))? {
            let PerfFileRecord::EventRecord { record, .. } = record else {
                continue;
            };
            match record.parse().map_err(|error| wrong(&error))? {
                EventRecord::Mmap2(map) => {
                    let path: Rc<str> = String::from_utf8_lossy(&map.path.as_slice()).into();
                    let (end, offset) = (map.address.saturating_add(map.length), map.page_offset);
                    let process = processes.entry(map.pid).or_default();
                    process.mappings.insert(map.address, Mapping { end, offset, path });
                    process.unwinder = None;
                }
                EventRecord::Fork(fork) if fork.pid != fork.ppid => {
                    let mappings = processes.get(&fork.ppid).map(|parent| parent.mappings.clone());
                    processes.entry(fork.pid).or_default().mappings = mappings.unwrap_or_default();
                }
                EventRecord::Sample(sample) => {
                    let Some((pid, at)) = sample.pid.zip(sample.timestamp).filter(|(_, at)| within.contains(at)) else {
                        continue;
                    };
                    let process = processes.entry(pid).or_default();
                    let stack = self.stack_of(&sample, process);
                    let place = self.place(stack, process, pid);
                    if self.metric == Metric::ServerCpu {
                        add(&mut time, place, sample.period.unwrap_or(0));
                    } else if let Some(tid) = sample.tid {
                        asleep.insert(tid, (at, place));
                    }
                }
                EventRecord::ContextSwitch(switch) => {
                    let common = record.common_data().map_err(|error| wrong(&error))?;
                    let Some((tid, at)) = common.tid.zip(common.timestamp) else {
                        continue;
                    };
                    match switch {
                        ContextSwitchRecord::Out {
                            preempted: TaskWasPreempted::No,
                            ..
                        } => {}
                        ContextSwitchRecord::Out { .. } => {
                            asleep.remove(&tid);
                        }
                        ContextSwitchRecord::In { .. } => {
                            if let Some((since, place)) = asleep.remove(&tid).filter(|_| within.contains(&at)) {
                                add(&mut time, place, at.saturating_sub(since));
                            }
                        }
                    }
                }
                _ => {}
            }
        }
        for pid in processes.keys() {
            let _ = fs::remove_file(map_of(*pid));
        }
        Ok(time)
    }

    /// The addresses of the code on a sample's stack, innermost first.
    fn stack_of(&mut self, sample: &SampleRecord, process: &mut Process) -> Vec<u64> {
        let Some((registers, (stack, _))) = sample.user_regs.as_ref().zip(sample.user_stack.as_ref()) else {
            return call_chain(sample);
        };
        let unwinder = process.unwinder.get_or_insert_with(|| {
            let mappings = process.mappings.iter();
            self.tables
                .unwinder(mappings.map(|(start, mapping)| (&mapping.path, *start..mapping.end, mapping.offset)))
        });
        self.tables.unwind(unwinder, registers, &stack.as_slice())
    }

    /// What the time of a sample belongs to. CPU time: the innermost of the project's own functions, else the innermost of all.
    /// Waiting: the call in which that function waits; `None` if the thread waits for its next task.
    fn place(&mut self, stack: Vec<u64>, process: &mut Process, pid: i32) -> Option<SampledPlace> {
        let codes: Vec<Rc<Code>> = (stack.into_iter())
            .map(|address| self.code_at(address, process, pid))
            .collect();
        let own = codes.iter().find_map(|code| code.own.clone());
        let (function, source) = own.unzip();
        let others = codes.iter().take_while(|code| code.own.is_none());
        let name = if self.metric == Metric::ServerCpu {
            let innermost = || codes.first()?.name.clone();
            function.or_else(innermost).unwrap_or_else(|| NO_SYMBOL.into())
        } else {
            let calls: Vec<&str> = others.filter_map(|code| code.name.as_deref()).collect();
            let call = waits::call(&calls, function.is_some())?;
            function.map_or_else(|| call.to_owned(), |function| format!("{call} by {function}"))
        };
        let (file, line) = source.map(|source| (source.file, source.line)).unzip();
        let names = codes.iter().rev().map(|code| folded_name(code.known_as()));
        Some(SampledPlace {
            function: (name, file),
            line: line.unwrap_or(0),
            stack: names.collect::<Vec<_>>().join(";"),
        })
    }

    fn code_at(&mut self, address: u64, process: &mut Process, pid: i32) -> Rc<Code> {
        let mapping = process.mappings.range(..=address).next_back();
        let mapping = mapping.filter(|(_, mapping)| address < mapping.end && mapping.path.starts_with('/'));
        let in_file = mapping.filter(|(_, mapping)| !mapping.path.starts_with("//"));
        let Some((start, mapping)) = in_file else {
            let made = process.made.get_or_insert_with(|| MadeCode::read(&map_of(pid)));
            return made.code_at(address, |name| self.made_at_run_time(name));
        };
        let key = (
            Rc::clone(&mapping.path),
            (address - start).saturating_add(mapping.offset),
        );
        if let Some(known) = self.known.get(&key) {
            return Rc::clone(known);
        }
        let (path, offset) = key;
        let tree = self.tree;
        let symbols = self.files.entry(Rc::clone(&path)).or_insert_with(|| {
            let symbols = (!is_system(&path)).then(|| Symbols::open(Path::new(&*path), tree));
            symbols.unwrap_or_else(|| Symbols::open(Path::new(&*path), &Tree::of(None)))
        });
        let code = symbols.as_mut().and_then(|symbols| {
            let at = symbols.functions_at(symbols.address_of(offset)?).into_iter();
            let mut named = at.map(|(frame, source)| (frame.map(|frame| frame.function), source));
            let (name, source) = named.next()?;
            let all = std::iter::once((name.clone(), source)).chain(named);
            let own = all.filter_map(|(name, source)| name.zip(source)).next_back();
            Some(Code { name, own })
        });
        let code = Rc::new(code.unwrap_or_default());
        self.known.insert((path, offset), Rc::clone(&code));
        code
    }

    /// A function by its name in a map of code that was made at run time.
    fn made_at_run_time(&self, name: &str) -> Code {
        let own = self.frames.iter().find_map(|frame| {
            let found = frame.captures(name)?;
            let function = found.name("function")?.as_str();
            let Some(file) = found.name("file") else {
                let function = function.replace('$', ".");
                let source = self.counted.get(&function)?.clone();
                return Some((function, source));
            };
            let file = Some(file.as_str()).filter(|file| !is_others(file));
            let line = found.name("line").and_then(|line| line.as_str().parse().ok());
            let function = if function.is_empty() { "(anonymous)" } else { function };
            Some((
                function.to_owned(),
                Source::at(&self.tree.relative(file?)?, line.unwrap_or(1)),
            ))
        });
        Code {
            name: Some(name.to_owned()),
            own,
        }
    }
}

/// The addresses of the code on a sample's stack by its frame pointers, innermost first.
fn call_chain(sample: &SampleRecord) -> Vec<u64> {
    let chain = sample.callchain.iter();
    let chain = chain.flat_map(|chain| (0..chain.len()).filter_map(|place| chain.get(place)));
    let program = chain.skip_while(|address| *address != USER).skip(1);
    let addresses = program.take_while(|address| *address < MARKS_FROM).enumerate();
    // All but the first return to the instruction behind the call.
    addresses
        .map(|(place, address)| address.saturating_sub(u64::from(place > 0)))
        .collect()
}

/// What the time of a sample belongs to.
struct SampledPlace {
    function: SampledFunction,
    line: u32,
    stack: String,
}

fn add(time: &mut SampledTime, place: Option<SampledPlace>, ns: u64) {
    if let Some(place) = place {
        let lines = time.by_function.entry(place.function).or_default();
        *lines.entry(place.line).or_default() += ns;
        *time.by_stack.entry(place.stack).or_default() += ns;
    }
}

/// A process of a profile.
#[derive(Default)]
struct Process {
    /// By their first address.
    mappings: BTreeMap<u64, Mapping>,
    unwinder: Option<Unwinder>,
    made: Option<MadeCode>,
}

/// The code that a process made at run time.
#[derive(Debug, Default)]
struct MadeCode {
    /// Addresses and name, in the order in which it was made: what was made later may lie where something else lay before.
    functions: Vec<(Range<u64>, String)>,
    known: HashMap<u64, Rc<Code>>,
}

impl MadeCode {
    /// Reads a map: on each line start, size (both hexadecimal) and name.
    fn read(map: &Path) -> Self {
        let text = fs::read(map).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let functions = text.lines().filter_map(|line| {
            let mut words = line.splitn(3, ' ');
            let mut number = || u64::from_str_radix(words.next()?.trim_start_matches("0x"), 16).ok();
            let (start, size) = (number()?, number()?);
            Some((start..start.saturating_add(size), words.next()?.to_owned()))
        });
        Self {
            functions: functions.collect(),
            known: HashMap::new(),
        }
    }

    fn code_at(&mut self, address: u64, named: impl Fn(&str) -> Code) -> Rc<Code> {
        let functions = &self.functions;
        let code = self.known.entry(address).or_insert_with(|| {
            let found = functions.iter().rev().find(|(range, _)| range.contains(&address));
            Rc::new(found.map(|(_, name)| named(name)).unwrap_or_default())
        });
        Rc::clone(code)
    }
}

/// Where a process names the code that it makes at run time.
fn map_of(pid: i32) -> PathBuf {
    PathBuf::from(format!("/tmp/perf-{pid}.map"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pattern of a runtime of this repository.
    fn frame(runtime: &str) -> Regex {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../counters/{runtime}/counter.toml"));
        let declared: toml::Table = toml::from_str(&fs::read_to_string(file).unwrap()).unwrap();
        Regex::new(declared["perf"]["frame"].as_str().unwrap()).unwrap()
    }

    #[test]
    fn own_functions_are_known_by_the_names_that_node_and_the_jvm_give_them() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_str().unwrap();
        fs::write(folder.path().join("server.js"), "").unwrap();
        let frames = ["node", "jvm"].map(frame);
        let place = ("Outer.Inner.run".to_owned(), Source::at("src/Outer.java", 7));
        let counted = BTreeMap::from([place, ("Handlers.user".to_owned(), Source::at("src/Handlers.java", 21))]);
        let tree = Tree::of(Some(folder.path()));
        let reader = PerfReader::new(Metric::ServerCpu, &tree, &frames, &counted);
        for (name, expected) in [
            (format!("JS:*copied {root}/server.js:4:16"), Some("copied server.js:4")),
            (
                format!("LazyCompile:~answer {root}/server.js:6:16"),
                Some("answer server.js:6"),
            ),
            (
                format!("JS:^ file://{root}/server.js:2:36"),
                Some("(anonymous) server.js:2"),
            ),
            (format!("JS:*send {root}/node_modules/send/index.js:9:1"), None),
            ("JS:*emit node:events:471:44".into(), None),
            (
                "void Handlers.user(com.sun.net.httpserver.HttpExchange)".into(),
                Some("Handlers.user src/Handlers.java:21"),
            ),
            (
                "int shop.Outer$Inner.run(java.lang.String)".into(),
                Some("Outer.Inner.run src/Outer.java:7"),
            ),
            ("void java.util.HashMap.put(java.lang.Object)".into(), None),
            ("Builtins_LoadIC".into(), None),
        ] {
            let own = reader.made_at_run_time(&name).own;
            let own = own.map(|(name, source)| format!("{name} {}:{}", source.file, source.line));
            assert_eq!(own.as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn code_that_was_made_later_hides_what_lay_there_before() {
        let folder = tempfile::tempdir().unwrap();
        let map = folder.path().join("perf-1.map");
        fs::write(&map, "10 10 first\n0x18 0x4 second with blanks\nnonsense\n40 2 third\n").unwrap();
        let mut made = MadeCode::read(&map);
        let mut at = |address| {
            let code = made.code_at(address, |name| Code {
                name: Some(name.into()),
                own: None,
            });
            code.name.clone()
        };
        assert_eq!(at(0x10).as_deref(), Some("first"));
        assert_eq!(at(0x19).as_deref(), Some("second with blanks"));
        assert_eq!(at(0x1c).as_deref(), Some("first"));
        assert_eq!(at(0x20), None);
        assert_eq!(MadeCode::read(&folder.path().join("none")).functions, Vec::new());
    }
}
