//! Looks an address up in a program's line tables: the physical function, and the functions inlined there.
//!
//! Where valgrind loaded a program, to convert process addresses to addresses in its file.

mod sources;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use addr2line::gimli::Reader;
use addr2line::{FunctionName, Loader, Location};
use object::{Object as _, ObjectSection as _, ObjectSegment as _, ObjectSymbol as _, SectionKind};

use crate::count::profile::frame::{Frame, Origin};
use crate::count::profile::names::{self, CLOSURE, Closures, short};
use crate::count::profile::symbols::sources::Sources;
use crate::count::profile::tree::{CachedTree, Tree};
use wirebench_record::counts::Source;

/// Folders of the system's libraries and of valgrind: only their symbols are used, not their line tables.
const SYSTEM: [&str; 5] = ["/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/", "/usr/libexec/"];

/// Whether a path is one of the system's libraries and not the server's own.
pub(super) fn is_system(path: &str) -> bool {
    SYSTEM.iter().any(|folder| path.starts_with(folder))
}

/// A function at an address, and the line within it; no line for code that is not the project's own. The physical function, with the
/// name that it has where it is inlined, is `None` without a symbol.
pub(super) type FunctionAt = (Option<Frame>, Option<Source>);

/// Parts of a file that are loaded: offset and size in the file, and address.
pub(super) struct Loaded(Vec<(u64, u64, u64)>);

impl Loaded {
    pub(super) fn of(object: &object::File) -> Self {
        let segments = object.segments().map(|segment| {
            let (offset, size) = segment.file_range();
            (offset, size, segment.address())
        });
        Self(segments.collect())
    }

    /// The address of what lies at an offset in the file; `None` if that is not loaded.
    pub(super) fn address_of(&self, offset: u64) -> Option<u64> {
        let mut parts = self.0.iter();
        let (from, _, address) = parts.find(|(from, size, _)| (*from..from + size).contains(&offset))?;
        Some(offset - from + address)
    }
}

/// One program or library of the server, opened for look-ups. Addresses are in its file, not in a process.
pub(super) struct Symbols {
    loader: Loader,
    names: Names,
    /// Ranges of addresses that hold code.
    code: Vec<(u64, u64)>,
    loaded: Loaded,
    /// Whether there are line tables at all.
    pub(super) has_lines: bool,
}

impl Symbols {
    /// Opens a file; `None` if it does not exist or is no program. `tree` says which sources are the project's own.
    pub(super) fn open(path: &Path, tree: &Tree) -> Option<Self> {
        let bytes = fs::read(path).ok()?;
        let object = object::File::parse(bytes.as_slice()).ok()?;
        let has_lines = object.section_by_name(".debug_info").is_some();
        let code = object
            .sections()
            .filter(|section| section.kind() == SectionKind::Text)
            .map(|section| (section.address(), section.address().saturating_add(section.size())))
            .collect();
        let sources = Sources::of(&object);
        let tree = sources.compiled_in().fold(tree.clone(), Tree::or_moved);
        let is_go = object.section_by_name(".go.buildinfo").is_some();
        let tree = if is_go { tree.with_go_modules() } else { tree };
        Some(Self {
            loader: Loader::new(path).ok()?,
            names: Names {
                sources,
                own: CachedTree::of(&tree),
                known: HashMap::new(),
            },
            code,
            loaded: Loaded::of(&object),
            has_lines,
        })
    }

    /// The address of what lies at an offset in the file; `None` if that is not loaded.
    pub(super) fn address_of(&self, offset: u64) -> Option<u64> {
        self.loaded.address_of(offset)
    }

    /// Whether code lies at an address.
    pub(super) fn holds(&self, address: u64) -> bool {
        self.code.iter().any(|&(start, end)| (start..end).contains(&address))
    }

    /// The functions at an address: the physical one, and then those inlined there, outermost first.
    pub(super) fn functions_at(&mut self, address: u64) -> Vec<FunctionAt> {
        let symbol = self.loader.find_symbol(address).map(names::clean);
        let (mut functions, mut outermost) = (Vec::new(), SourceLocation::default());
        if let Ok(mut frames) = self.loader.find_frames(address) {
            while let Ok(Some(frame)) = frames.next() {
                let place = self.names.source_location(frame.location.as_ref());
                let name = frame.function;
                let inlined = name.map_or_else(nameless, |name| self.names.inlined(&name, &place));
                functions.push((Some(inlined), place.source()));
                outermost = place;
            }
        }
        functions.pop();
        let physical = symbol.map(|symbol| self.names.physical(&symbol, &outermost));
        functions.push((physical, outermost.source()));
        functions.reverse();
        functions
    }
}

/// The source of a function's code.
#[derive(Debug, Default)]
struct SourceLocation<'a> {
    /// As the line tables name it.
    file: Option<&'a str>,
    /// Relative to the root, when it is the project's.
    own: Option<Arc<str>>,
    /// `None` for code that the compiler generated.
    line: Option<u32>,
}

impl SourceLocation<'_> {
    fn source(&self) -> Option<Source> {
        let (file, line) = self.own.as_deref().zip(self.line)?;
        Some(Source::at(file, line))
    }
}

/// The names of functions, each computed once: 10,000 addresses share some 1,000 functions.
struct Names {
    sources: Sources,
    own: CachedTree,
    /// By name and source file (as addresses in the mapped file), and by the line of a closure of the project's.
    known: HashMap<(u64, usize, u32), Frame>,
}

impl Names {
    fn source_location<'a>(&mut self, location: Option<&Location<'a>>) -> SourceLocation<'a> {
        let file = location.and_then(|location| location.file);
        SourceLocation {
            file,
            own: file.and_then(|file| self.own.relative(file)),
            line: location.and_then(|location| location.line).filter(|line| *line > 0),
        }
    }

    fn inlined<R: Reader>(&mut self, function: &FunctionName<R>, place: &SourceLocation<'_>) -> Frame {
        let raw = function.raw_name().unwrap_or(Cow::Borrowed("???"));
        let closure = place.line.filter(|_| place.own.is_some() && raw.contains('{'));
        let file = place.file.map_or(0, |file| file.as_ptr() as usize);
        let key = (function.name.offset_id().0, file, closure.unwrap_or(0));
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let demangled = function.demangle().unwrap_or(Cow::Borrowed("???"));
        let clean = if demangled == raw {
            raw.into_owned()
        } else {
            names::clean(&demangled)
        };
        let frame = Frame {
            inlined: true,
            ..self.physical(&clean, place)
        };
        self.known.insert(key, frame.clone());
        frame
    }

    /// A function, with the same name whether it is inlined or not.
    fn physical(&mut self, name: &str, place: &SourceLocation<'_>) -> Frame {
        let origin = match place.own {
            Some(_) => Origin::Project,
            None => names::origin_of(name, place.file),
        };
        let is_rust = place.file.is_some_and(|file| file.ends_with(".rs"));
        let function = match &place.own {
            _ if origin == Origin::Allocator || !is_rust => name.to_owned(),
            None => self.sources.qualified(short(name, Closures::Kept), place.file),
            Some(own) => {
                let bare = short(name, Closures::Folded);
                let line = place.line.filter(|_| bare == CLOSURE);
                let around = line.and_then(|line| self.own.function_around(own, line));
                self.sources.qualified(around.as_deref().unwrap_or(bare), place.file)
            }
        };
        Frame {
            function,
            origin,
            inlined: false,
        }
    }
}

/// An inlined function that the line tables do not name: its cost goes to the function around it.
fn nameless() -> Frame {
    Frame {
        function: "(inlined)".to_owned(),
        origin: Origin::Standard,
        inlined: true,
    }
}

const PAGE: u64 = 4096;

/// The address and the length of each function of a program's symbol table, by name; `None` where two functions have the name, which
/// then does not identify an address.
type Functions = HashMap<String, Option<(u64, u64)>>;

/// The difference between process addresses and the addresses in a program's file, from process addresses and the functions at them
/// by valgrind. `None` if the program does not exist, is none, or is stripped, or no function is known.
pub(super) fn load_offset(path: &Path, seen: &[(u64, String)]) -> Option<u64> {
    let bytes = fs::read(path).ok()?;
    let object = object::File::parse(bytes.as_slice()).ok()?;
    let mut functions = Functions::new();
    let symbols = object.symbols();
    for symbol in symbols.filter(|symbol| symbol.is_definition() && symbol.size() > 0) {
        if let Ok(name) = symbol.name() {
            let place = Some((symbol.address(), symbol.size()));
            let known = functions.entry(names::clean(name)).or_insert(place);
            *known = (*known).filter(|_| *known == place);
        }
    }
    offset_of(&functions, seen.iter().map(|(address, name)| (*address, name.as_str())))
}

/// The number of whole pages that fits most addresses.
fn offset_of<'a>(functions: &Functions, seen: impl Iterator<Item = (u64, &'a str)>) -> Option<u64> {
    let mut votes: BTreeMap<u64, usize> = BTreeMap::new();
    for (address, name) in seen {
        let Some(Some((start, size))) = functions.get(name) else {
            continue;
        };
        let Some(above) = address.checked_sub(*start) else {
            continue;
        };
        // A function longer than a page fits at several offsets; a wrong one gets fewer votes.
        let furthest = above / PAGE;
        let nearest = above.saturating_sub(size - 1).div_ceil(PAGE);
        for pages in (nearest..=furthest).take(16) {
            *votes.entry(pages * PAGE).or_insert(0) += 1;
        }
    }
    // Of equal candidates the smallest, so that the result is deterministic.
    let most = votes.into_iter().rev().max_by_key(|&(_, count)| count);
    most.map(|(offset, _)| offset)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::{prop_assert_eq, proptest};

    use super::{Functions, PAGE, offset_of};

    fn functions() -> Functions {
        let functions = [
            ("main", 0x1000, 0x55d),
            ("long", 0x2000, 0x4000),
            ("short", 0x7000, 0x10),
        ];
        HashMap::from(functions.map(|(name, start, size)| (name.to_owned(), Some((start, size)))))
    }

    #[test]
    fn functions_say_where_a_program_was_loaded() {
        let seen = [
            (0x10_9200, "main"),
            (0x10_b100, "long"),
            (0x10_f004, "short"),
            (0x4_0000_0000, "malloc"),
        ];
        assert_eq!(offset_of(&functions(), seen.into_iter()), Some(0x10_8000));
        assert_eq!(offset_of(&functions(), [(0x1200, "main")].into_iter()), Some(0));
        assert_eq!(
            offset_of(&functions(), [(0x900, "main"), (5, "unknown")].into_iter()),
            None
        );
    }

    proptest! {
        #[test]
        fn every_offset_is_found(pages in 0u64..1 << 30, into in 0u64..0x55d, deep in 0u64..0x10) {
            let offset = pages * PAGE;
            let seen = [(offset + 0x1000 + into, "main"), (offset + 0x7000 + deep, "short")];
            prop_assert_eq!(offset_of(&functions(), seen.into_iter()), Some(offset));
        }
    }
}
