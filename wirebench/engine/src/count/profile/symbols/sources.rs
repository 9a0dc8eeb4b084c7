//! Full names for functions that line tables name only in short: the crate and module come from the source file.
//!
//! With `debug = "line-tables-only"`, rustc names an inlined function `poll<T>`, without its module. The module follows from
//! the source file, and the crate of a folder from the name of a compilation unit, `FOLDER/src/lib.rs/@/CRATE.HASH-cgu.0`.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use addr2line::gimli::{self, AttributeValue, DW_AT_comp_dir, DW_AT_name, EndianSlice, RunTimeEndian};
use object::{Object, ObjectSection};

type Bytes<'a> = EndianSlice<'a, RunTimeEndian>;

/// Which crate's sources a folder holds, for one program.
#[derive(Debug, Default)]
pub(super) struct Sources {
    crates: BTreeMap<String, String>,
    /// The files that crates begin in, without their ending.
    roots: BTreeSet<String>,
    /// Folders in which a compiler was given a relative path, each with one such path.
    compiled_in: BTreeMap<String, String>,
}

impl Sources {
    /// Reads the names of the compilation units; a unit that cannot be read is left out.
    pub(super) fn of<'data>(object: &object::File<'data>) -> Self {
        let endian = if object.is_little_endian() {
            RunTimeEndian::Little
        } else {
            RunTimeEndian::Big
        };
        let section = |id: gimli::SectionId| -> Result<Cow<'data, [u8]>, gimli::Error> {
            let found = object.section_by_name(id.name());
            Ok(found
                .and_then(|section| section.uncompressed_data().ok())
                .unwrap_or_default())
        };
        let mut sources = Self::default();
        if let Ok(sections) = gimli::DwarfSections::load(section) {
            let dwarf = sections.borrow(|section| EndianSlice::new(section, endian));
            sources.read_units(&dwarf).ok();
        }
        sources
    }

    fn read_units(&mut self, dwarf: &gimli::Dwarf<Bytes<'_>>) -> Result<(), gimli::Error> {
        let mut headers = dwarf.units();
        while let Some(header) = headers.next()? {
            let unit = dwarf.unit(header)?;
            let mut entries = unit.entries();
            let Some(root) = entries.next_dfs()? else { continue };
            let text = |value: Option<AttributeValue<Bytes<'_>>>| {
                let text = dwarf.attr_string(&unit, value?).ok()?;
                Some(text.to_string_lossy().into_owned())
            };
            let name = text(root.attr_value(DW_AT_name));
            let folder = text(root.attr_value(DW_AT_comp_dir));
            self.add(&name.unwrap_or_default(), &folder.unwrap_or_default());
        }
        Ok(())
    }

    /// `servers/http/src/lib.rs/@/http_server.0123-cgu.0`, compiled in some folder.
    fn add(&mut self, unit: &str, compiled_in: &str) {
        let Some((file, codegen)) = unit.split_once("/@/") else {
            return;
        };
        let file = if file.starts_with('/') {
            file.to_owned()
        } else {
            self.compiled_in.insert(compiled_in.to_owned(), file.to_owned());
            format!("{compiled_in}/{file}")
        };
        if let (Some((folder, _)), Some((name, _))) = (file.rsplit_once('/'), codegen.split_once('.')) {
            self.crates.insert(folder.to_owned(), name.to_owned());
            self.roots.insert(file.trim_end_matches(".rs").to_owned());
        }
    }

    /// The folders in which a compiler was given a relative path, each with one such path. Cargo gives relative paths only to
    /// the packages of a workspace.
    pub(super) fn compiled_in(&self) -> impl Iterator<Item = (&Path, &Path)> {
        let units = self.compiled_in.iter();
        units.map(|(folder, file)| (Path::new(folder), Path::new(file)))
    }

    /// A short name as rustc writes it, without its generic arguments and with its module; other names as they are.
    pub(super) fn qualified(&self, name: &str, file: Option<&str>) -> String {
        let Some(path) = file.and_then(|file| file.strip_suffix(".rs")) else {
            return name.to_owned();
        };
        let bare = match name.find('<') {
            Some(at) if at > 0 => &name[..at],
            _ => name,
        };
        match self.module(path) {
            Some(module) => format!("{module}::{bare}"),
            None => bare.to_owned(),
        }
    }

    /// The module of a source file, given without its ending.
    fn module(&self, path: &str) -> Option<String> {
        let (name, rest) = self.known(path).or_else(|| guessed(path))?;
        let mut parts: Vec<&str> = rest.split('/').collect();
        if matches!(parts.last(), Some(&("mod" | "lib" | "main"))) || self.roots.contains(path) {
            parts.pop();
        }
        parts.insert(0, &name);
        Some(parts.join("::"))
    }

    /// By the longest folder that a crate is known to be compiled from.
    fn known<'a>(&self, path: &'a str) -> Option<(String, &'a str)> {
        let mut folder = path;
        while let Some((parent, _)) = folder.rsplit_once('/') {
            if let Some(name) = self.crates.get(parent) {
                return Some((name.clone(), &path[parent.len() + 1..]));
            }
            folder = parent;
        }
        None
    }
}

/// `…/hyper-util-0.1.2/src/rt/tokio` is `hyper_util` and `rt/tokio`; without a `src` folder, the file's own name is all.
fn guessed(path: &str) -> Option<(String, &str)> {
    let Some((before, rest)) = path.rsplit_once("/src/") else {
        let name = path.rsplit('/').next().filter(|name| !name.is_empty())?;
        return Some((name.to_owned(), "lib"));
    };
    let folder = before.rsplit('/').next().filter(|folder| !folder.is_empty())?;
    let name = match folder.rsplit_once('-') {
        Some((name, version)) if version.starts_with(|c: char| c.is_ascii_digit()) => name,
        _ => folder,
    };
    Some((name.replace('-', "_"), rest))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, proptest};

    use super::Sources;

    fn sources() -> Sources {
        let mut sources = Sources::default();
        sources.add("servers/http/src/lib.rs/@/http_server.0123abcd-cgu.0", "/work");
        sources.add(
            "/rustc/59807/library/std/src/lib.rs/@/std.e28293b1-cgu.0",
            "/rustc/59807",
        );
        sources.add("stall.rs/@/stall.77-cgu.0", "/market");
        sources.add("compiler_builtins", "/rustc/59807");
        sources
    }

    #[test]
    fn the_source_file_gives_crate_and_module() {
        for (name, file, expected) in [
            ("burn", Some("/work/servers/http/src/lib.rs"), "http_server::burn"),
            (
                "send<T>",
                Some("/work/servers/http/src/answer.rs"),
                "http_server::answer::send",
            ),
            (
                "lock",
                Some("/rustc/59807/library/std/src/sys/mod.rs"),
                "std::sys::lock",
            ),
            (
                "new<u8>",
                Some("/rustc/59807/library/alloc/src/vec/mod.rs"),
                "alloc::vec::new",
            ),
            (
                "poll<a::B<C>, D>",
                Some("/r/tokio-1.54.1/src/runtime/task/core.rs"),
                "tokio::runtime::task::core::poll",
            ),
            (
                "{closure#0}<A>",
                Some("/r/hyper-util-0.1.21/src/rt/tokio.rs"),
                "hyper_util::rt::tokio::{closure#0}",
            ),
            (
                "encode",
                Some("/work/target/build/x/out/weather.v1.rs"),
                "weather.v1::encode",
            ),
            ("encode", Some("lone.rs"), "lone::encode"),
            ("haggle", Some("/market/stall.rs"), "stall::haggle"),
            ("haggle", Some("/market/price.rs"), "stall::price::haggle"),
            ("area<int>", Some("/work/shape.cc"), "area<int>"),
            ("work", None, "work"),
        ] {
            assert_eq!(sources().qualified(name, file), expected, "{name} {file:?}");
        }
    }

    proptest! {
        #[test]
        fn any_name_and_path_give_a_name(name in any::<String>(), path in "[a-z/<.-]{0,20}(/src/)?[a-z/]{0,9}\\.rs") {
            sources().qualified(&name, Some(&path));
        }
    }
}
