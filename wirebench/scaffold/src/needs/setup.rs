//! The steps that set up a toolchain, one function a language. Each is an action at a full commit, with its version.

use std::sync::LazyLock;

use regex::Regex;

use super::examined_folder::{ExaminedFolder, quoted};

const GO: &str = "actions/setup-go@b7ad1dad31e06c5925ef5d2fc7ad053ef454303e # v7.0.0";
const NODE: &str = "actions/setup-node@820762786026740c76f36085b0efc47a31fe5020 # v7.0.0";
const PYTHON: &str = "actions/setup-python@5fda3b95a4ea91299a34e894583c3862153e4b97 # v7.0.0";
const JAVA: &str = "actions/setup-java@b6effb05e454b25005698d916606bdc6ffcbf961 # v5.7.0";
const DOTNET: &str = "actions/setup-dotnet@a98b56852c35b8e3190ac28c8c2271da59106c68 # v6.0.0";
const RESTORE: &str = "actions/cache/restore@55cc8345863c7cc4c66a329aec7e433d2d1c52a9 # v6.1.0";
const SAVE: &str = "actions/cache/save@55cc8345863c7cc4c66a329aec7e433d2d1c52a9 # v6.1.0";

type Step = Vec<String>;

/// A step with a comment, an action and its inputs.
fn step(why: &str, uses: &str, with: &[(&str, String)]) -> Step {
    let mut lines = vec![format!("# {why}"), format!("- uses: {uses}"), "  with:".into()];
    lines.extend(with.iter().map(|(name, value)| format!("    {name}: {value}")));
    lines
}

/// Rust is there: rustup installs what rust-toolchain.toml names. What main built is restored; only main saves it.
pub(super) fn rust(examined: &ExaminedFolder, manifest: &str) -> (Step, Step) {
    let target = examined.below_top(&format!("{manifest}target"));
    let kept = examined.below_top(".wirebench");
    let paths = [
        "~/.cargo/registry/index",
        "~/.cargo/registry/cache",
        &target,
        &format!("{kept}/target"),
        &format!("{kept}/programs"),
    ];
    let listed = |indent: &str| paths.iter().map(|path| format!("{indent}{path}")).collect::<Vec<_>>();
    let key = "key: bench-rust-${{ runner.os }}-${{ runner.arch }}-${{ github.sha }}";
    let made = examined.below_top(&format!("{manifest}Cargo.toml"));
    let mut restore = vec![
        format!("# {made}: the runner has Rust by rustup. What a push to the default branch built serves both sides."),
        format!("- uses: {RESTORE}"),
        "  with:".into(),
        "    path: |".into(),
    ];
    restore.extend(listed("      "));
    restore.push(format!("    {key}"));
    restore.push("    restore-keys: bench-rust-${{ runner.os }}-${{ runner.arch }}-".into());
    let mut save = vec![
        "# A pull request saves nothing for others.".to_owned(),
        "- if: ${{ !cancelled() && github.event_name == 'push' }}".into(),
        format!("  uses: {SAVE}"),
        "  with:".into(),
        "    path: |".into(),
    ];
    save.extend(listed("      "));
    save.push(format!("    {key}"));
    (restore, save)
}

pub(super) fn go(examined: &ExaminedFolder, manifest: &str) -> Step {
    let module = examined.below_top(&format!("{manifest}go.mod"));
    let mut with = vec![("go-version-file", quoted(&module))];
    match examined
        .files
        .text(&format!("{manifest}go.sum"))
        .or(examined.files.above("go.sum").map(|(_, text)| text))
    {
        Some(_) => with.push((
            "cache-dependency-path",
            quoted(&examined.below_top(&format!("{manifest}go.sum"))),
        )),
        None => with.push(("cache", "false".into())),
    }
    step(
        &format!("{module}: Go, and what it downloaded and built before"),
        GO,
        &with,
    )
}

pub(super) fn node(examined: &ExaminedFolder, manifest: &str) -> Vec<Step> {
    let package = examined.below_top(&format!("{manifest}package.json"));
    let has_engine = examined
        .find(manifest, &["package.json"])
        .and_then(|(_, text)| serde_json::from_str::<serde_json::Value>(text).ok())
        .is_some_and(|package| package["engines"]["node"].is_string());
    let version = match examined.find(manifest, &[".nvmrc", ".node-version"]) {
        Some((file, _)) => ("node-version-file", quoted(&file)),
        None if has_engine => ("node-version-file", quoted(&package)),
        None => ("node-version", "lts/*".into()),
    };
    let locks = [
        ("pnpm", "pnpm-lock.yaml"),
        ("yarn", "yarn.lock"),
        ("npm", "package-lock.json"),
    ];
    let lock = locks
        .into_iter()
        .find_map(|(manager, lock)| Some((manager, examined.find(manifest, &[lock])?.0)));
    let mut with = vec![version];
    let mut steps = Vec::new();
    match &lock {
        Some((manager, file)) => {
            with.push(("cache", (*manager).into()));
            with.push(("cache-dependency-path", quoted(file)));
        }
        None => with.push(("package-manager-cache", "false".into())),
    }
    if let Some(("pnpm", file)) = &lock {
        steps.push(vec![
            format!("# {file}: pnpm comes with Node.js"),
            "- run: corepack enable pnpm".into(),
        ]);
    }
    steps.push(step(
        &format!("{package}: Node.js, and what it downloaded before"),
        NODE,
        &with,
    ));
    steps
}

pub(super) fn python(examined: &ExaminedFolder, manifest: &str) -> Step {
    let declared = examined.find(manifest, &["requirements.txt", "pyproject.toml"]);
    let asks = |text: &str| text.contains("requires-python");
    let project = examined
        .find(manifest, &["pyproject.toml"])
        .filter(|(_, text)| asks(text));
    let version = match examined.find(manifest, &[".python-version"]).or(project) {
        Some((file, _)) => ("python-version-file", quoted(&file)),
        None => ("python-version", "3.x".into()),
    };
    let mut with = vec![version];
    let why = match declared {
        Some((file, _)) => {
            with.push(("cache", "pip".into()));
            with.push(("cache-dependency-path", quoted(&file)));
            format!("{file}: Python, and what pip downloaded before; wirebench makes an environment for each side")
        }
        None => "Python; no file declares packages".into(),
    };
    step(&why, PYTHON, &with)
}

static JAVA_VERSION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"<(?:java\.version|maven\.compiler\.release|maven\.compiler\.target|release)>(\d+)<|(?:JavaLanguageVersion\.of|jvmToolchain)\((\d+)\)",
    )
    .expect("a constant pattern")
});

pub(super) fn jvm(examined: &ExaminedFolder, manifest: &str) -> Step {
    const USUAL: &str = "21";
    let builds = ["pom.xml", "build.gradle", "build.gradle.kts"];
    let found = examined.find(manifest, &builds);
    let (file, text) = found.unwrap_or_else(|| (builds[0].to_owned(), ""));
    let number = |found: regex::Captures| found.iter().skip(1).flatten().next().map(|one| one.as_str().to_owned());
    let version = match examined.find(manifest, &[".java-version"]) {
        Some((file, _)) => ("java-version-file", quoted(&file)),
        None => {
            let named = JAVA_VERSION.captures(text).and_then(number);
            ("java-version", quoted(&named.unwrap_or_else(|| USUAL.into())))
        }
    };
    let cache = if file.ends_with("pom.xml") { "maven" } else { "gradle" };
    let with = [
        ("distribution", "temurin".to_owned()),
        version,
        ("cache", cache.to_owned()),
        ("cache-dependency-path", quoted(&file)),
    ];
    step(
        &format!("{file}: a JDK, and what {cache} downloaded before"),
        JAVA,
        &with,
    )
}

static FRAMEWORK: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"<TargetFrameworks?>net(\d+\.\d+)").expect("a constant pattern"));

pub(super) fn dotnet(examined: &ExaminedFolder, manifest: &str) -> Step {
    const USUAL: &str = "10.0.x";
    let project = examined.files.below(manifest, &["csproj"]).next();
    let named = project.and_then(|(_, text)| FRAMEWORK.captures(text).map(|found| format!("{}.x", &found[1])));
    let version = match examined.find(manifest, &["global.json"]) {
        Some((file, _)) => ("global-json-file", quoted(&file)),
        None => ("dotnet-version", quoted(&named.unwrap_or_else(|| USUAL.into()))),
    };
    let mut with = vec![version];
    if let Some((lock, _)) = examined.find(manifest, &["packages.lock.json"]) {
        with.push(("cache", "true".into()));
        with.push(("cache-dependency-path", quoted(&lock)));
    }
    let file = examined.below_top(project.map_or(manifest, |(path, _)| path));
    step(&format!("{file}: the SDK"), DOTNET, &with)
}
