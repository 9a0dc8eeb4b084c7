//! What a program's line tables say of an address: the function around it and those inlined there.

mod places;
mod sources;

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use addr2line::Loader;
use addr2line::gimli::Reader;
use object::{Object as _, ObjectSection as _, SectionKind};

use crate::count::profile::frame::{Frame, Origin};
pub(super) use crate::count::profile::symbols::places::Places;
use crate::count::profile::symbols::sources::Sources;
use crate::count::profile::tree::{Known, Tree};
use crate::count::profile::{names, origin};
use crate::record::counts::Source;

/// Folders of the system's libraries and of valgrind's own: known by their symbols, never looked up.
const SYSTEM: [&str; 5] = ["/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/", "/usr/libexec/"];

/// Whether a path is one of the system's libraries and not the server's own.
pub(super) fn is_system(path: &str) -> bool {
    SYSTEM.iter().any(|folder| path.starts_with(folder))
}

/// What lies at an address.
#[derive(Debug, Default, Clone)]
pub(super) struct Around {
    /// What was inlined there, outermost first, without the physical function around it.
    pub(super) inlined: Vec<Frame>,
    /// The line within each function, the physical one first; none for code that is not the project's own.
    pub(super) lines: Vec<Option<Source>>,
}

/// One program or library of the server's, opened for look-ups. Addresses are those of its own file, not of a process.
pub(super) struct Symbols {
    loader: Loader,
    sources: Sources,
    own: Known,
    /// By name and source file, as places in the mapped file: 10,000 addresses share some 1,000 of them.
    known: HashMap<(u64, usize), (Arc<str>, Origin)>,
    /// Ranges of addresses that hold code.
    code: Vec<(u64, u64)>,
    /// Whether there are line tables at all.
    pub(super) has_lines: bool,
}

impl Symbols {
    /// Opens a file; none when it is not there or no program. `tree` says which sources are the project's own.
    pub(super) fn open(path: &Path, tree: &Tree) -> Option<Self> {
        let bytes = fs::read(path).ok()?;
        let object = object::File::parse(bytes.as_slice()).ok()?;
        let has_lines = object.section_by_name(".debug_info").is_some();
        let code = object
            .sections()
            .filter(|section| section.kind() == SectionKind::Text)
            .map(|section| (section.address(), section.address().saturating_add(section.size())))
            .collect();
        Some(Self {
            loader: Loader::new(path).ok()?,
            sources: Sources::of(&object),
            own: Known::of(tree),
            known: HashMap::new(),
            code,
            has_lines,
        })
    }

    /// Whether code lies at an address.
    pub(super) fn holds(&self, address: u64) -> bool {
        self.code.iter().any(|&(start, end)| (start..end).contains(&address))
    }

    /// The name of the function in the symbol table that an address lies in.
    pub(super) fn physical(&self, address: u64) -> Option<String> {
        self.loader.find_symbol(address).map(names::clean)
    }

    /// What was inlined at an address, and on which lines it is.
    pub(super) fn around(&mut self, address: u64) -> Around {
        let (mut chain, mut lines) = (Vec::new(), Vec::new());
        let Ok(mut frames) = self.loader.find_frames(address) else {
            return Around::default();
        };
        while let Ok(Some(frame)) = frames.next() {
            let file = frame.location.as_ref().and_then(|location| location.file);
            let line = frame.location.as_ref().and_then(|location| location.line);
            let own = file.and_then(|file| self.own.relative(file));
            // A line 0 is code that the compiler made up.
            lines.push(own.zip(line.filter(|line| *line > 0)).map(|(file, line)| Source {
                file: file.to_string(),
                line,
            }));
            let Some(function) = frame.function else {
                chain.push(nameless());
                continue;
            };
            let key = (
                function.name.offset_id().0,
                file.map_or(0, |file| file.as_ptr() as usize),
            );
            let (name, origin) = self.known.entry(key).or_insert_with(|| {
                let raw = function.raw_name().unwrap_or(Cow::Borrowed("???"));
                let demangled = function.demangle().unwrap_or(Cow::Borrowed("???"));
                let name = if demangled == raw {
                    self.sources.qualified(&raw, file)
                } else {
                    names::clean(&demangled)
                };
                let origin = origin::of(&name, file);
                (name.into(), origin)
            });
            chain.push(Frame {
                function: name.to_string(),
                origin: *origin,
                inlined: true,
            });
        }
        chain.pop();
        chain.reverse();
        lines.reverse();
        Around { inlined: chain, lines }
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
