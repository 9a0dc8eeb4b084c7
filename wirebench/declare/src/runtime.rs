//! A language runtime that counts what a program's own functions do: `counters/<name>/counter.toml` with the files beside it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use regex::Regex;
use serde::Deserialize;

use crate::args::names;
use crate::read::{DeclareError, Place};

/// Placeholders that the environment of a counted program may name: the counter's folder, the folder for what its
/// `prepare` makes, the folder for its output, the root of the program's repository, and the variable's value before.
pub const PLACEHOLDERS: [&str; 5] = ["folder", "made", "out", "root", "before"];

/// What valgrind's callgrind counts of a program: machine instructions, as of native code.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnderCallgrind {
    /// Functions that depend on timing, by the beginnings of their names: their own instructions are left out.
    pub left_out: Vec<String>,
    /// Functions among `left_out` that are counted all the same, by the beginnings of their names.
    pub kept: Vec<String>,
    /// Functions that allocate on the heap, by the beginnings of their names. Another function that calls one allocates once.
    pub allocators: Vec<String>,
}

impl UnderCallgrind {
    /// Whether the own instructions of a function are left out.
    pub fn leaves_out(&self, function: &str) -> bool {
        self.is_of_runtime(function) && !is_among(&self.kept, function)
    }

    /// Whether a function is the runtime's own, kept or not.
    pub fn is_of_runtime(&self, function: &str) -> bool {
        is_among(&self.left_out, function)
    }

    /// Whether a function allocates on the heap.
    pub fn allocates(&self, function: &str) -> bool {
        is_among(&self.allocators, function)
    }
}

/// Whether a name begins with one of these.
fn is_among(starts: &[String], name: &str) -> bool {
    starts.iter().any(|start| name.starts_with(start))
}

/// How a program whose code is made at run time tells perf the names of its functions.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnderPerf {
    /// The environment variables that make it write `/tmp/perf-PID.map`. Programs of other runtimes get them too, and ignore them.
    pub env: BTreeMap<String, String>,
    /// A regular expression over a name in that file: it captures `function`, and `file` (an absolute path) and `line` if they are
    /// there. A function without a file is the project's own if one of that name was counted.
    pub frame: String,
}

/// A runtime, as `counter.toml` declares it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Runtime {
    /// The folder's name.
    #[serde(skip)]
    pub name: String,
    /// Its folder, with `normalise.jq` and the files that are injected.
    #[serde(skip)]
    pub folder: PathBuf,
    /// A description of one line.
    pub about: String,
    /// The names of its program files, without a version at the end; `go` is any program that the Go compiler made.
    pub programs: Vec<String>,
    /// For a compiled language: callgrind counts, not the runtime, so there is no `normalise.jq`.
    pub callgrind: Option<UnderCallgrind>,
    /// What the runtime counts, in the singular.
    #[serde(default)]
    pub unit: String,
    /// What one more call of a function may cost by itself, in this unit: moving code to another function costs no more.
    #[serde(default)]
    pub call: u32,
    /// A command that makes what `env` names, run in the counter's folder before each counted run; it may name `{made}`.
    #[serde(default)]
    pub prepare: Vec<String>,
    /// The environment variables that make a program count.
    pub env: BTreeMap<String, String>,
    /// For code that is made at run time: how perf learns the names of its functions.
    pub perf: Option<UnderPerf>,
}

impl Runtime {
    pub(super) fn check(self, place: &Place, name: String) -> Result<Self, DeclareError> {
        let of_perf = self.perf.iter().flat_map(|perf| perf.env.values());
        let words = self.env.values().chain(of_perf).flat_map(|text| names(text));
        let unknown = words.into_iter().find(|word| !PLACEHOLDERS.contains(&word.as_str()));
        if let Some(word) = unknown {
            let message = format!("{{{word}}} has no value; there are {}", PLACEHOLDERS.join(", "));
            return Err(place.wrong("env", message));
        }
        if let Some(perf) = &self.perf {
            let key = "perf.frame";
            let frame = Regex::new(&perf.frame).map_err(|error| place.wrong(key, error.to_string()))?;
            let has_function = frame.capture_names().flatten().any(|name| name == "function");
            place.refuse_if(!has_function, key, "expected a group (?<function>…)")?;
        }
        let is_word = !self.unit.is_empty() && self.unit.bytes().all(|byte| byte.is_ascii_lowercase());
        let message = "expected a word of lower-case letters, such as \"block\"";
        place.refuse_if(self.callgrind.is_none() && !is_word, "unit", message)?;
        let folder = place.file.parent().map(PathBuf::from).unwrap_or_default();
        Ok(Self { name, folder, ..self })
    }
}
