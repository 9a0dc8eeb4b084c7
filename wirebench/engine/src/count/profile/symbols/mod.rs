//! Looks an address up in a program's line tables: the physical function, and the functions inlined there.

mod load_offset;
mod sources;

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use addr2line::gimli::Reader;
use addr2line::{FunctionName, Loader, Location};
use object::{Object as _, ObjectSection as _, ObjectSegment as _, SectionKind};

use crate::count::profile::frame::{Frame, Origin};
use crate::count::profile::names::{self, CLOSURE, Closures, short};
use crate::count::profile::origin;
pub(super) use crate::count::profile::symbols::load_offset::load_offset;
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

/// One program or library of the server, opened for look-ups. Addresses are in its file, not in a process.
pub(super) struct Symbols {
    loader: Loader,
    names: Names,
    /// Ranges of addresses that hold code.
    code: Vec<(u64, u64)>,
    /// Parts of the file that are loaded: offset and size in the file, and address.
    loaded: Vec<(u64, u64, u64)>,
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
        let segments = object.segments().map(|segment| {
            let (offset, size) = segment.file_range();
            (offset, size, segment.address())
        });
        let loaded = segments.collect();
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
            loaded,
            has_lines,
        })
    }

    /// The address of what lies at an offset in the file; `None` if that is not loaded.
    pub(super) fn address_of(&self, offset: u64) -> Option<u64> {
        let mut loaded = self.loaded.iter();
        let (from, _, address) = loaded.find(|(from, size, _)| (*from..from + size).contains(&offset))?;
        Some(offset - from + address)
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
            None => origin::of(name, place.file),
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
