//! Runs the recipes: finds the programs whose files they describe, and fills in how each is built and started.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use toml::Table;

use crate::files::{Files, ending_of, folder_of, folders_up, pattern, word};
use crate::known::KNOWN;
use crate::port_settings::{self, PortSetting};
use crate::program::{Program, last_name, spoken};
use crate::recipe::{
    Each, Lock, Manifest, Migration, Packages, Pattern, RECIPES, Recipe, Start, Values, fill, fits, is_match,
};
use wirebench_declare::protocol::Protocol;
use wirebench_declare::server::Program as Started;

/// Programs of a start that only running shows to be servers, at most: those nearest to the top. More are examples or tests.
const MOST_TO_START: usize = 6;

/// The name of a module of Python.
static MODULE: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?-u)^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$"));

/// Every program that a recipe finds.
pub(super) fn programs(files: &Files) -> Vec<Program> {
    RECIPES.iter().flat_map(|recipe| of_recipe(files, recipe)).collect()
}

/// The ecosystems that are known, each with the files that tell of it.
pub(super) fn looked_for() -> impl Iterator<Item = (&'static str, BTreeSet<&'static str>)> {
    let marks = |recipe: &'static Recipe| {
        let starts = recipe.starts.iter().flat_map(|start| start.file.split('|'));
        let manifests = recipe.manifests.iter().map(|one| one.file.as_str());
        (recipe.ecosystem.as_str(), manifests.chain(starts).collect())
    };
    std::iter::once(("Rust", ["Cargo.toml"].into())).chain(RECIPES.iter().map(marks))
}

/// The programs of one recipe.
pub(super) fn of_recipe(files: &Files, recipe: &Recipe) -> Vec<Program> {
    let mut found = Vec::new();
    for start in &recipe.starts {
        let known: BTreeSet<String> = found.iter().map(|one: &Program| one.manifest.clone()).collect();
        let mut hits = hits(files, start);
        if start.must_serve {
            hits.sort_by_key(|hit| hit.path.matches('/').count());
            hits.truncate(MOST_TO_START);
        }
        let programs = hits.iter().flat_map(|hit| tries(files, recipe, start, hit));
        found.extend(programs.filter(|one| !start.otherwise || !known.contains(&one.manifest)));
    }
    found
}

/// A place where a recipe's file was found.
struct Hit<'a> {
    /// The file.
    path: &'a str,
    /// The files that are the program itself.
    own: Vec<&'a str>,
    /// The named groups of the match.
    groups: Values,
}

fn hits<'a>(files: &'a Files, start: &Start) -> Vec<Hit<'a>> {
    let mut hits: Vec<Hit> = Vec::new();
    let preferred = |path: &str| is_match(&start.prefer, files.text(path).unwrap_or_default());
    let is_ruled_out = |(path, text): &(&str, &str)| {
        files.has(&format!("{}{}", folder_of(path), start.unless)) || is_match(&start.without, text)
    };
    let shown = files.all().filter(|(path, _)| fits(&start.file, path));
    let most = if start.each == Each::Match { usize::MAX } else { 1 };
    for (path, text) in shown.filter(|one| !is_ruled_out(one)) {
        for captures in start.contains.captures_iter(text).take(most) {
            let same = |hit: &&mut Hit| start.each == Each::Folder && folder_of(hit.path) == folder_of(path);
            if let Some(hit) = hits.iter_mut().find(same) {
                hit.own.push(path);
                continue;
            }
            let groups = groups(&start.contains, &captures);
            let source = groups.get("source").map(|name| name.trim_start_matches("./"));
            let own = match source.map(|source| format!("{}{source}", folder_of(path))) {
                Some(source) => files.all().map(|(path, _)| path).find(|other| *other == source),
                None => Some(path),
            };
            let own = own.map(|own| vec![own]);
            hits.extend(own.map(|own| Hit { path, own, groups }));
        }
    }
    let paths = hits.iter().map(|hit| hit.path).filter(|path| preferred(path));
    let folders: BTreeSet<&str> = paths.map(folder_of).collect();
    hits.retain(|hit| !folders.contains(folder_of(hit.path)) || preferred(hit.path));
    hits
}

fn groups(pattern: &Pattern, captures: &Captures) -> Values {
    let value = |name: &str| Some((name.to_owned(), captures.name(name)?.as_str().to_owned()));
    pattern.capture_names().flatten().filter_map(value).collect()
}

/// The project around a file.
struct Project<'a> {
    /// Its folder: `""` or ending in `/`.
    folder: String,
    /// The folder of its manifest, also above the examined one; of a file without a manifest, the file's folder.
    manifest_folder: String,
    /// `None` if no manifest was found.
    manifest: Option<&'a Manifest>,
    /// The manifest's text.
    text: &'a str,
    files: &'a Files,
}

impl<'a> Project<'a> {
    /// Searches a folder, then its parent folders, also above the examined folder; several manifests of one folder are as many ways to
    /// install its packages, the likeliest first.
    fn all(files: &'a Files, recipe: &'a Recipe, start: &str) -> Vec<Self> {
        for folder in files.folders_up(start) {
            let here = recipe.manifests.iter().filter_map(|manifest| {
                let text = files.text(&format!("{folder}{}", manifest.file))?;
                manifest.contains.is_match(text).then(|| Self {
                    folder: folder.trim_start_matches("../").to_owned(),
                    manifest_folder: folder.to_owned(),
                    manifest: Some(manifest),
                    text,
                    files,
                })
            });
            let here: Vec<Self> = here.collect();
            if !here.is_empty() {
                return here;
            }
        }
        vec![Self {
            folder: String::new(),
            manifest_folder: start.to_owned(),
            manifest: None,
            text: "",
            files,
        }]
    }

    fn values(&self) -> Values {
        let Some(manifest) = self.manifest else {
            return Values::new();
        };
        let found = manifest.contains.captures(self.text);
        let mut values = found.map_or_else(Values::new, |found| groups(&manifest.contains, &found));
        // A folder inside a project is named after itself.
        let here = Some(self.files.name()).filter(|_| self.manifest_folder.starts_with("../"));
        let places = [
            ("manifest", format!("{}{}", self.manifest_folder, manifest.file)),
            ("manifest_folder", word(&self.manifest_folder)),
            ("here", here.unwrap_or_default().to_owned()),
        ];
        values.extend(places.map(|(name, value)| (name.to_owned(), value)));
        values
    }

    fn install(&self, with: &[String]) -> Vec<String> {
        let Some(manifest) = self.manifest else {
            return Vec::new();
        };
        let mut values = self.values();
        let install = match self.lock() {
            Some((folder, lock)) => {
                values.insert("manifest_folder".into(), word(folder));
                &lock.install
            }
            None => &manifest.install,
        };
        let mut words = self.words(install, &values);
        if !words.is_empty() {
            words.extend_from_slice(with);
        }
        words
    }

    /// The lock file of its packages, after its folder: beside the manifest, else that of the nearest workspace above.
    fn lock(&self) -> Option<(&str, &'a Lock)> {
        let manifest = self.manifest?;
        let own = self.manifest_folder.as_str();
        let folders = self.files.folders_up(&self.folder);
        let mut folders = folders.skip_while(|folder| *folder != own);
        folders.find_map(|folder| {
            let text = self.files.text(&format!("{folder}{}", manifest.file));
            let holds = |lock: &&Lock| {
                let locks_below = || text.is_some_and(|text| is_match(&lock.workspace, text));
                self.files.has(&format!("{folder}{}", lock.file)) && (folder == own || locks_below())
            };
            Some((folder, manifest.locks.iter().find(holds)?))
        })
    }

    /// Fills the words of a command. A word `{toml:a.b}` is the list at that place of the manifest; `{nearest:FILE:ELSE}` is the
    /// nearest file of that name, at the project or above it, or else another program.
    fn words(&self, words: &[String], values: &Values) -> Vec<String> {
        let mut filled = Vec::new();
        for word in words {
            let inner = word.strip_prefix('{').and_then(|word| word.strip_suffix('}'));
            if let Some(path) = inner.and_then(|word| word.strip_prefix("toml:")) {
                filled.extend(list_in_toml(self.text, path));
            } else if let Some((file, other)) = inner.and_then(|word| word.strip_prefix("nearest:")?.split_once(':')) {
                filled.push(self.nearest(file).unwrap_or_else(|| other.to_owned()));
            } else {
                filled.push(fill(word, values));
            }
        }
        filled
    }

    /// The command that brings its database up to date, by the nearest file that shows one.
    fn migration(&self, migrations: &[Migration]) -> Option<Vec<String>> {
        folders_up(&self.folder).find_map(|folder| {
            migrations.iter().find_map(|one| {
                let found = one
                    .contains
                    .captures(self.files.text(&format!("{folder}{}", one.file))?)?;
                let mut values = groups(&one.contains, &found);
                values.insert("folder".into(), word(folder));
                Some(self.words(&one.command, &values))
            })
        })
    }

    fn nearest(&self, file: &str) -> Option<String> {
        let mut folders = self.files.folders_up(&self.folder);
        let folder = folders.find(|folder| self.files.has(&format!("{folder}{file}")))?;
        Some(format!("{}/{file}", word(folder)))
    }

    /// The folder of the workspace that builds this project: the one that locks its packages, or the top, whose manifest names
    /// it.
    fn workspace(&self) -> Option<&str> {
        let manifest = self.manifest?;
        let locked = self
            .lock()
            .map(|(folder, _)| folder)
            .filter(|folder| *folder != self.manifest_folder);
        let top = self.files.text(&manifest.file).unwrap_or_default();
        let is_named =
            !self.folder.is_empty() && manifest.workspace.as_ref().is_some_and(|pattern| pattern.is_match(top));
        locked.or_else(|| is_named.then_some(""))
    }
}

/// The texts of the list at a place of a TOML text, such as `project.dependencies`.
fn list_in_toml(text: &str, path: &str) -> Vec<String> {
    let whole = text.parse().map_or_else(|_| Table::new().into(), toml::Value::Table);
    let found = path.split('.').try_fold(&whole, |value, key| value.get(key));
    let items = found.and_then(toml::Value::as_array).into_iter().flatten();
    items.filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

/// A hit with each way to install its packages.
fn tries(files: &Files, recipe: &Recipe, start: &Start, hit: &Hit) -> Vec<Program> {
    let folder = folder_of(hit.path);
    let has_manifest = |recipe: &&Recipe| Project::all(files, recipe, folder)[0].manifest.is_some();
    let recipe = match start.packages {
        Packages::Any => RECIPES.iter().find(has_manifest),
        Packages::Own | Packages::System => Some(recipe),
    };
    let Some(recipe) = recipe else { return Vec::new() };
    let projects = Project::all(files, recipe, folder);
    let programs = projects
        .iter()
        .filter_map(|project| program(files, recipe, start, hit, project));
    programs.collect()
}

fn program(files: &Files, recipe: &Recipe, start: &Start, hit: &Hit, project: &Project) -> Option<Program> {
    let is_needed = start.needs.is_empty() || project.manifest.is_some_and(|one| one.file == start.needs);
    if !is_needed || !start.depends.is_match(project.text) {
        return None;
    }
    let others: Vec<&str> = others(files, recipe, start, project, hit).collect();
    let protocols = serves(files, start, hit, &others);
    if protocols.is_empty() {
        return None;
    }
    let mut values = project.values();
    set_places(&mut values, files, &project.folder, (hit.path, hit.own[0]));
    values.extend(hit.groups.iter().map(|(name, value)| (name.clone(), value.clone())));
    let needs_module = start.command.iter().any(|word| word.contains("{module}"));
    if needs_module && !MODULE.is_match(&values["module"]) {
        return None;
    }
    let workspace = project.workspace();
    values.extend(workspace.map(|folder| ("workspace".into(), word(folder))));
    let fill_all = |words: &[String]| project.words(words, &values);
    let build = match start.build_in_workspace.as_slice() {
        in_workspace if workspace.is_some() && !in_workspace.is_empty() => in_workspace,
        _ => &start.build,
    };
    let install = match start.packages {
        Packages::System => Vec::new(),
        Packages::Own | Packages::Any => project.install(&start.with),
    };
    let build = join(install, fill_all(build));
    let sources: Vec<&str> = hit.own.iter().chain(&others).copied().collect();
    let texts: Vec<&str> = sources.iter().filter_map(|path| files.text(path)).collect();
    let starts_in = Some(fill(&start.working_directory, &values)).filter(|folder| !folder.is_empty() && folder != ".");
    let command = plain(fill_all(&start.command), starts_in.is_none());
    let tells = |text: &String| ["{port}", "{address}", "{host}"].iter().any(|name| text.contains(name));
    let (telling, env): (Vec<_>, Vec<_>) = start.env.clone().into_iter().partition(|(_, value)| tells(value));
    let port = if let Some((name, value)) = telling.into_iter().next() {
        Some(PortSetting::variable(name, value))
    } else if !start.args.is_empty() {
        Some(port_settings::by_args(fill_all(&start.args)))
    } else if command.iter().any(tells) {
        Some(PortSetting::default())
    } else {
        port_settings::likeliest(&texts)
    };
    let fill_value = |(name, value): (String, String)| (name, fill(&value, &values));
    Some(Program {
        name: name(files, start, hit, &values),
        about: about(start, hit),
        protocols,
        started: Started::Command(command),
        build,
        folder: starts_in,
        port,
        migration: project.migration(&recipe.migrations),
        env: env.into_iter().map(fill_value).collect(),
        alone: start.alone,
        must_serve: start.must_serve,
        sources: sources.into_iter().map(str::to_owned).collect(),
        language: recipe.setup.clone(),
        manifest: project.manifest_folder.clone(),
    })
}

/// Where it was found, for people.
fn about(start: &Start, hit: &Hit) -> String {
    match start.each {
        Each::Folder => word(folder_of(hit.path)),
        _ if hit.groups.contains_key("target") => {
            format!("{}, target {}", hit.path, hit.groups["target"])
        }
        Each::File | Each::Match => hit.path.to_owned(),
    }
}

/// A shell's script that is one plain command, without the shell.
fn plain(command: Vec<String>, starts_at_top: bool) -> Vec<String> {
    let [shell, option, script] = command.as_slice() else {
        return command;
    };
    let script = script.strip_prefix("exec ").unwrap_or(script);
    let first = script.split(' ').next().unwrap_or_default();
    let needs_shell =
        script.contains(['&', '|', ';', '$', '<', '>', '(', ')', '*', '`', '~', '\n']) || first.contains('=');
    // A program's path is relative to the top, the shell's to its own folder.
    let needs_shell = needs_shell || (first.contains('/') && !starts_at_top);
    match shell_words::split(script) {
        Ok(words) if shell == "sh" && option == "-c" && !needs_shell => words,
        _ => command,
    }
}

/// One command of two; both of them need a shell.
pub(super) fn join(first: Vec<String>, second: Vec<String>) -> Option<Vec<String>> {
    if first.is_empty() || second.is_empty() {
        return Some([first, second].concat()).filter(|words| !words.is_empty());
    }
    let both = [first, second].map(shell_words::join).join(" && ");
    Some(vec!["sh".into(), "-c".into(), both])
}

/// The folders of the packages that a program imports, also by others; `below` is how their names begin.
fn imported(files: &Files, names: &Pattern, below: &str, project: &str, own: &[&str]) -> BTreeSet<String> {
    let mut folders = BTreeSet::new();
    let mut texts: Vec<&str> = own.iter().filter_map(|path| files.text(path)).collect();
    while let Some(text) = texts.pop() {
        for name in names.captures_iter(text).filter_map(|one| one.name("package")) {
            let inside = name.as_str().strip_prefix(below).map(|rest| rest.trim_matches('/'));
            let Some(inside) = inside else { continue };
            let folder = if inside.is_empty() {
                project.to_owned()
            } else {
                format!("{project}{inside}/")
            };
            if folders.insert(folder.clone()) {
                let within = files.all().filter(|(path, _)| folder_of(path) == folder);
                texts.extend(within.map(|(_, text)| text));
            }
        }
    }
    folders
}

/// The sources of the same project that are no program of their own, of those that the program imports if that can be read: those
/// below the file's folder if nothing else says where the project begins.
fn others<'a>(
    files: &'a Files,
    recipe: &'a Recipe,
    start: &'a Start,
    project: &'a Project,
    hit: &'a Hit,
) -> impl Iterator<Item = &'a str> {
    let values = project.values();
    let project = project.folder.as_str();
    let imported = recipe.imports.as_ref().map(|imports| {
        let below = fill(&imports.below, &values);
        imported(files, &imports.names, &below, project, &hit.own)
    });
    let has_manifest = |folder: &str| (recipe.manifests.iter()).any(|one| files.has(&format!("{folder}{}", one.file)));
    let inner = move |path: &str| {
        let mut between = folders_up(folder_of(path)).take_while(|folder| folder.len() > project.len());
        between.any(has_manifest)
    };
    let is_source = |path: &str| ending_of(path).is_some_and(|end| recipe.sources.iter().any(|one| one == end));
    let is_other = move |(path, text): &(&str, &str)| {
        path.starts_with(project)
            && imported
                .as_ref()
                .is_none_or(|folders| folders.contains(folder_of(path)))
            && is_source(path)
            && !hit.own.contains(path)
            && !(fits(&start.file, path) && start.contains.is_match(text))
            && !inner(path)
    };
    files.all().filter(is_other).map(|(path, _)| path)
}

/// What the program serves, HTTP and gRPC: by its own files, or by the project's others if they say nothing.
fn serves(files: &Files, start: &Start, hit: &Hit, others: &[&str]) -> Vec<Protocol> {
    if start.http.is_none() && start.grpc.is_none() {
        return vec![Protocol::Http];
    }
    let any = |paths: &[&str], pattern: &Option<Pattern>| {
        let mut texts = paths.iter().filter_map(|path| files.text(path));
        texts.any(|text| is_match(pattern, text))
    };
    let served = |paths: &[&str]| {
        let grpc = any(paths, &start.grpc);
        spoken(any(paths, &start.http) || (start.http.is_none() && !grpc), grpc)
    };
    let own = served(&hit.own);
    // Only where a program is a folder, the other sources are libraries of it alone.
    let is_folder = start.each == Each::Folder;
    if own.is_empty() && is_folder {
        served(others)
    } else {
        own
    }
}

/// Sets the places that words of a recipe name.
fn set_places(values: &mut Values, files: &Files, project: &str, (path, own): (&str, &str)) {
    let folder = folder_of(path);
    let inside = folder.strip_prefix(project).unwrap_or(folder);
    let own = &own[folder_of(own).len()..];
    let stem = own.rsplit_once('.').map_or(own, |(stem, _)| stem);
    let top = imports_from(files, project, folder);
    let below = path.strip_prefix(top.as_str()).unwrap_or(path);
    let module = below.rsplit_once('.').map_or(below, |(module, _)| module);
    let module = module.trim_end_matches("/__init__");
    let go_to = match project {
        "" => String::new(),
        folder => format!("cd {} && ", word(folder)),
    };
    let places = [
        ("file", path.to_owned()),
        ("folder", word(folder)),
        ("stem", stem.to_owned()),
        ("inside", word(inside)),
        ("up", "../".repeat(project.matches('/').count())),
        ("imports", word(&top)),
        ("module", module.replace('/', ".")),
        ("module_path", module.to_owned()),
        ("python_package", module.trim_end_matches("/__main__").replace('/', ".")),
        ("in_project", go_to),
        ("project", word(project)),
    ];
    values.extend(places.map(|(name, value)| (name.to_owned(), value)));
}

/// The folder that imports of Python start from: the one around the packages of a file, otherwise that of `manage.py`, `src`, or the
/// project's own.
fn imports_from(files: &Files, project: &str, folder: &str) -> String {
    let above = |folder: &str| folder_of(folder.trim_end_matches('/')).to_owned();
    let mut top = folder.to_owned();
    while !top.is_empty() && files.has(&format!("{top}__init__.py")) {
        top = above(&top);
    }
    let source_folder = format!("{project}src/");
    match () {
        () if top != folder => top,
        () if files.has(&format!("{}manage.py", above(folder))) => above(folder),
        () if folder.starts_with(&source_folder) => source_folder,
        () => project.to_owned(),
    }
}

/// The last part of the first of its texts that says something, or else of its folder.
fn name(files: &Files, start: &Start, hit: &Hit, values: &Values) -> String {
    let stem = start.names.is_empty().then(|| values["stem"].clone());
    let own = start.names.iter().map(|name| fill(name, values)).chain(stem);
    let mut texts = own.chain([folder_of(hit.path).to_owned(), files.name().to_owned()]);
    texts
        .find_map(|text| last_name(text.trim_matches(['.', '/']), &KNOWN.usual_names))
        .unwrap_or_else(|| "server".to_owned())
}

#[cfg(test)]
mod tests;
