//! What a program's own functions do, counted by its language's runtime: how a server is made to count, and what it wrote.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use sourcemap::SourceMap;

use crate::count::profile::Tree;
use crate::measure::{digest, work_folder};
use crate::normalise::Jq;
use wirebench_declare::args::{Value, fill};
use wirebench_declare::runtime::Runtime;

/// The folder in a server run's folder where the runtime writes.
const OUT: &str = "work";

/// Folders of a repository that hold other people's code.
const OTHERS: [&str; 3] = ["node_modules", "site-packages", "dist-packages"];

/// A function: its file, relative to the repository's root; its line; its name.
pub type FunctionPlace = (String, u32, String);

/// What functions did in one server run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FunctionCounts {
    /// Units of work, by function.
    pub units: BTreeMap<FunctionPlace, u64>,
    /// Calls, by function.
    pub calls: BTreeMap<FunctionPlace, u64>,
    /// What stands in the source, of each function whose end is known.
    pub bodies: BTreeMap<FunctionPlace, Body>,
}

/// A function in its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body {
    /// Its last line.
    pub last_line: u32,
    /// Twelve hex digits of its text without blanks.
    pub text: String,
}

/// The common shape that `normalise.jq` writes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Shape {
    functions: Vec<CountedFunction>,
    /// Files that a compiler wrote, by their absolute path.
    #[serde(default)]
    maps: BTreeMap<String, Mapped>,
}

/// Where the functions of a file that a compiler wrote come from.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Mapped {
    /// The lengths of the file's lines, in UTF-16 units without their ends.
    lengths: Vec<usize>,
    /// A source map of version 3, whose sources are absolute paths.
    map: serde_json::Value,
}

/// A function that one process counted.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CountedFunction {
    name: String,
    /// An absolute path.
    file: String,
    #[serde(default)]
    line: Option<u32>,
    /// Its last line, if the runtime says it.
    #[serde(default)]
    last: Option<u32>,
    /// Where it begins, in UTF-16 units, if the runtime does not know lines.
    #[serde(default)]
    offset: Option<usize>,
    /// Where it ends, likewise.
    #[serde(default)]
    to: Option<usize>,
    count: u64,
    calls: u64,
    /// The named function around it, if it has no name itself: it counts for that one where both come from the same source.
    #[serde(default)]
    around: Option<Around>,
}

/// A named function around others, in the same file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Around {
    name: String,
    offset: usize,
    to: usize,
}

/// Makes what the environment variables of a runtime name, in a folder below `.wirebench` of `root`, which is returned. A
/// runtime that prepares nothing has no such folder.
///
/// # Errors
/// When its command fails; the error is a sentence.
pub fn prepare(runtime: &Runtime, root: &Path) -> Result<PathBuf, String> {
    if runtime.prepare.is_empty() {
        return Ok(PathBuf::new());
    }
    let made = work_folder::make(root).map(|folder| folder.join("made").join(&runtime.name));
    let made = made.and_then(|made| fs::create_dir_all(&made).map(|()| made));
    let made = made.map_err(|error| format!("{}: cannot be written: {error}", root.display()))?;
    let values = BTreeMap::from([("made", text(&made))]);
    let words: Vec<String> = runtime.prepare.iter().map(|word| fill(word, &values, 0)).collect();
    let mut command = wirebench_spawn::command(&words[0]);
    let output = command.args(&words[1..]).current_dir(&runtime.folder).output();
    let output = output.map_err(|error| format!("{} cannot be started: {error}", words[0]))?;
    if output.status.success() {
        return Ok(made);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.lines().next().unwrap_or("it says nothing");
    Err(format!(
        "`{}` of counters/{} failed: {said}",
        shell_words::join(&words),
        runtime.name
    ))
}

fn text(path: &Path) -> Value {
    Value::One(path.to_string_lossy().into_owned())
}

/// Environment variables that a runtime declares, for a server run in `folder` with other variables `known`, the first before the
/// second; `made` is what [`prepare`] returned.
///
/// # Errors
/// When the folder for the output cannot be made.
pub fn environment(
    (runtime, declared): (&Runtime, &BTreeMap<String, String>),
    made: &Path,
    folder: &Path,
    root: &Path,
    known: [&BTreeMap<String, String>; 2],
) -> std::io::Result<BTreeMap<String, String>> {
    let out = folder.join(OUT);
    fs::create_dir_all(&out)?;
    let before = |name: &String| {
        let known = known.iter().find_map(|variables| variables.get(name));
        known.cloned().or_else(|| wirebench_spawn::variable(name))
    };
    let filled = declared.iter().map(|(name, value)| {
        let values = BTreeMap::from([
            ("folder", text(&runtime.folder)),
            ("made", text(made)),
            ("out", text(&out)),
            ("root", text(root)),
            ("before", Value::One(before(name).unwrap_or_default())),
        ]);
        // Separators around an empty `{before}` go: an empty part of a path means the current folder.
        let value = fill(value, &values, 0);
        (name.clone(), value.trim_matches([' ', ':', ',']).to_owned())
    });
    Ok(filled.collect())
}

/// Reads what the processes of one server run wrote; `None` if they wrote nothing. `tree` says which files are the project's
/// own.
///
/// # Errors
/// When the runtime's filter refuses the output, or writes another shape.
pub fn read(runtime: &Runtime, jq: &Jq, folder: &Path, tree: &Tree) -> Result<Option<FunctionCounts>, String> {
    let entries = fs::read_dir(folder.join(OUT)).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.sort();
    if files.is_empty() {
        return Ok(None);
    }
    let filter = runtime.folder.join("normalise.jq");
    let wrong = |wrong: String| format!("{}: {wrong}", filter.display());
    let output = wirebench_spawn::command(&jq.program)
        .args(["--compact-output", "--null-input", "--from-file"])
        .arg(&filter)
        .args(&files)
        .output()
        .map_err(|error| wrong(format!("jq cannot be started: {error}")))?;
    if !output.status.success() {
        return Err(wrong(String::from_utf8_lossy(&output.stderr).trim().replace('\n', " ")));
    }
    let shape: Shape = serde_json::from_slice(&output.stdout)
        .map_err(|error| wrong(format!("wrote something else than functions: {error}")))?;
    Ok(Some(by_function(shape, tree)))
}

/// Whether a file lies in a folder of other people's code.
pub(super) fn is_others(path: &str) -> bool {
    path.split('/').any(|part| OTHERS.contains(&part))
}

/// A place in a source: its absolute path, and its line, from 1 on.
type SourceLine = (String, u32);

/// A file that a compiler wrote, whose map was read.
struct Compiled {
    /// The offset at which each line begins.
    lines: Vec<usize>,
    map: SourceMap,
}

impl Compiled {
    /// `None` for a map that cannot be read: then its file is what is known.
    fn read(mapped: Mapped) -> Option<Self> {
        let (mut lines, mut begin) = (Vec::new(), 0);
        for length in mapped.lengths {
            lines.push(begin);
            begin += length + 1;
        }
        Some(Self {
            lines,
            map: SourceMap::from_slice(mapped.map.to_string().as_bytes()).ok()?,
        })
    }

    /// Where what stands at an offset of the file comes from; `None` if the map does not name a file.
    fn source(&self, offset: usize) -> Option<SourceLine> {
        let line = self.lines.partition_point(|begin| *begin <= offset).checked_sub(1)?;
        let column = u32::try_from(offset - self.lines[line]).ok()?;
        let token = self.map.lookup_token(u32::try_from(line).ok()?, column)?;
        let source = token.get_source().filter(|source| source.starts_with('/'))?;
        Some((source.to_owned(), token.get_src_line() + 1))
    }
}

/// The project's own functions; those of several processes are added up.
fn by_function(shape: Shape, tree: &Tree) -> FunctionCounts {
    let mut counts = FunctionCounts::default();
    let mut files: BTreeMap<String, Vec<u16>> = BTreeMap::new();
    let compiled: BTreeMap<String, Compiled> = (shape.maps.into_iter())
        .filter_map(|(file, mapped)| Some((file, Compiled::read(mapped)?)))
        .collect();
    for mut one in shape.functions {
        let map = compiled.get(&one.file);
        let file_at = |offset| Some(map?.source(offset)?.0);
        // A bundler puts what one source has inside a function that it made from another.
        let is_of_one_source = |around: &Around| one.offset.and_then(file_at) == file_at(around.offset);
        if let Some(around) = one.around.take_if(|around| is_of_one_source(around)) {
            (one.name, one.offset, one.to, one.calls) = (around.name, Some(around.offset), Some(around.to), 0);
        }
        let offsets = one.offset.zip(one.to);
        let source = map.zip(offsets).and_then(|(compiled, (from, to))| {
            let (file, first) = compiled.source(from)?;
            let last = compiled.source(to.saturating_sub(1)).map_or(first, |(_, last)| last);
            Some((file, (first, last)))
        });
        let path = source.as_ref().map_or(&one.file, |(file, _)| file);
        let Some(file) = tree.relative(path).filter(|_| !is_others(path)) else {
            continue;
        };
        let whole = files
            .entry(path.clone())
            .or_insert_with(|| fs::read_to_string(path).unwrap_or_default().encode_utf16().collect());
        let (lines, offsets) = match (&source, offsets) {
            (None, Some((from, to))) => {
                let last = line_at(whole, to.saturating_sub(1));
                (line_at(whole, from).zip(last), Some((from, to)))
            }
            (source, _) => {
                let lines = source.as_ref().map(|(_, lines)| *lines).or(one.line.zip(one.last));
                let offsets =
                    lines.map(|(first, last)| offset_of(whole, first).zip(offset_of(whole, last.saturating_add(1))));
                (lines, offsets.flatten())
            }
        };
        let first = lines.map(|(first, _)| first).or(one.line);
        let place = (file, first.unwrap_or(1), one.name);
        let text = offsets.and_then(|(from, to)| whole.get(from..to));
        if let Some((text, (_, last_line))) = text.map(String::from_utf16_lossy).zip(lines) {
            let words: String = text.split_whitespace().collect();
            let text = digest::short(&words);
            counts.bodies.insert(place.clone(), Body { last_line, text });
        }
        *counts.calls.entry(place.clone()).or_default() += one.calls;
        *counts.units.entry(place).or_default() += one.count;
    }
    counts
}

const NEWLINE: u16 = b'\n' as u16;

/// The line of an offset, from 1 on; `None` behind the end of the text.
fn line_at(text: &[u16], offset: usize) -> Option<u32> {
    let before = text.get(..offset)?.iter();
    u32::try_from(before.filter(|unit| **unit == NEWLINE).count() + 1).ok()
}

/// Where a line begins, from 1 on; the end of the text for the line behind its last. `None` for a line further on, as compilers
/// give to code that they took from other files.
fn offset_of(text: &[u16], line: u32) -> Option<usize> {
    let ends = text.iter().enumerate().filter(|(_, unit)| **unit == NEWLINE);
    let begins = ends.map(|(at, _)| at + 1).chain([text.len()]);
    [0].into_iter().chain(begins).nth(line.checked_sub(1)? as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_value_before_leaves_no_empty_part() {
        let folder = tempfile::tempdir().unwrap();
        let runtime = Runtime {
            name: "any".into(),
            folder: "/counters/any".into(),
            about: String::new(),
            programs: Vec::new(),
            callgrind: None,
            unit: "step".into(),
            call: 1,
            prepare: Vec::new(),
            env: [
                ("A", "{folder}:{before}"),
                ("B", "{before} --require {folder}/x {root}"),
            ]
            .map(|(name, value)| (name.into(), value.into()))
            .into(),
            perf: None,
        };
        let filled = |before: Option<&str>| {
            let own = before.map(|value| ["A", "B"].map(|name| (name.to_owned(), value.to_owned())));
            let own = own.into_iter().flatten().collect();
            let (made, root) = (Path::new("/made"), Path::new("/shop"));
            let known = [&own, &BTreeMap::new()];
            let env = environment((&runtime, &runtime.env), made, folder.path(), root, known).unwrap();
            (env["A"].clone(), env["B"].clone())
        };
        assert_eq!(
            filled(None),
            ("/counters/any".into(), "--require /counters/any/x /shop".into())
        );
        assert_eq!(
            filled(Some("/own")),
            (
                "/counters/any:/own".into(),
                "/own --require /counters/any/x /shop".into()
            )
        );
    }

    #[test]
    fn processes_are_added_up_lines_found_and_the_code_of_others_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("shop.js");
        fs::write(&file, "// €😀\n\nfunction order() {}\n").unwrap();
        let function = |file: &Path, offset: usize| CountedFunction {
            name: "order".into(),
            file: file.to_string_lossy().into_owned(),
            line: None,
            last: None,
            offset: Some(offset),
            to: Some(offset + 4),
            count: 3,
            calls: 1,
            around: None,
        };
        let shape = Shape {
            functions: vec![
                function(&file, 8),
                function(&file, 8),
                function(&folder.path().join("node_modules/a/shop.js"), 8),
                function(Path::new("/elsewhere/shop.js"), 8),
            ],
            maps: BTreeMap::new(),
        };
        let counts = by_function(shape, &Tree::of(Some(folder.path())));
        let place: FunctionPlace = ("shop.js".into(), 3, "order".into());
        assert_eq!(counts.bodies[&place].last_line, 3);
        assert_eq!(counts.units, BTreeMap::from([(place.clone(), 6)]));
        assert_eq!(counts.calls, BTreeMap::from([(place, 2)]));
    }

    #[test]
    fn a_function_of_a_compiled_file_is_known_by_its_source() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
        fs::write(
            path("shop.ts"),
            "type Price = number;\n\nfunction order(): Price {\n  return 1;\n}\n",
        )
        .unwrap();
        let js = "\"use strict\";\nfunction order() {\n    return 1;\n}\n";
        let compiled = |source: &str, mappings: &str| {
            let function = serde_json::json!({"name": "order", "file": path("shop.js"), "offset": 14, "to": 48, "count": 2, "calls": 1});
            let map = serde_json::json!({"version": 3, "sources": [source], "names": [], "mappings": mappings});
            let lengths: Vec<usize> = js.lines().map(str::len).collect();
            let shape = serde_json::json!({"functions": [function], "maps": {path("shop.js"): {"lengths": lengths, "map": map}}});
            let counts = by_function(serde_json::from_value(shape).unwrap(), &Tree::of(Some(folder.path())));
            let bodies = counts.bodies.into_values().map(|body| (body.last_line, body.text));
            (counts.units.into_keys().next(), bodies.collect::<Vec<_>>())
        };
        // As tsc writes it: the second line is the third of the source, and so on.
        let mappings = ";AAEA,SAAS,KAAK;IACZ,OAAO,CAAC,CAAC;AACX,CAAC";
        let (place, bodies) = compiled(&path("shop.ts"), mappings);
        assert_eq!(place, Some(("shop.ts".into(), 3, "order".into())));
        assert_eq!(bodies, [(5, digest::short("functionorder():Price{return1;}"))]);
        fs::write(path("shop.js"), js).unwrap();
        for (source, mappings) in [("webpack://shop/shop.ts", mappings), (&*path("shop.ts"), "?")] {
            let (place, bodies) = compiled(source, mappings);
            assert_eq!(place, Some(("shop.js".into(), 2, "order".into())), "{source}");
            assert_eq!(bodies, [(4, digest::short("functionorder(){return1;}"))]);
        }
        let (place, _) = compiled(&path("node_modules/shop.ts"), mappings);
        assert_eq!(place, None);
    }

    #[test]
    fn a_function_without_a_name_counts_for_the_one_around_it_unless_a_bundler_brought_it_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
        let counted = |sources: [&str; 2]| {
            // From column 20 on, the fifth line of the second source.
            let map =
                serde_json::json!({"version": 3, "sources": sources.map(path), "names": [], "mappings": "AAAA,oBCIA"});
            let around = serde_json::json!({"name": "start", "offset": 0, "to": 90});
            let function = serde_json::json!({"name": "(anonymous)", "file": path("all.js"), "offset": 20, "to": 40, "count": 7, "calls": 5, "around": around});
            let shape =
                serde_json::json!({"functions": [function], "maps": {path("all.js"): {"lengths": [90], "map": map}}});
            let counts = by_function(serde_json::from_value(shape).unwrap(), &Tree::of(Some(folder.path())));
            (counts.units.into_iter().next(), counts.calls.into_values().next())
        };
        let place = |file: &str, line, name: &str| (file.to_owned(), line, name.to_owned());
        assert_eq!(
            counted(["a.ts", "b.ts"]),
            (Some((place("b.ts", 5, "(anonymous)"), 7)), Some(5))
        );
        assert_eq!(
            counted(["a.ts", "a.ts"]),
            (Some((place("a.ts", 1, "start"), 7)), Some(0))
        );
    }
}
