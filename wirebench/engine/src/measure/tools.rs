//! Finds the programs wirebench calls and checks their versions.
//!
//! The build information that the Go linker writes into every program, as `go version -m` prints it; Go itself is not needed.

use std::path::{Path, PathBuf};

use object::{Object as _, ObjectSection as _};
use regex::Regex;

use wirebench_declare::args::{Arg, Value, Values, expand};
use wirebench_declare::driver::{Driver, Tool};

/// Where a program is: in `bin` of the folder that `WIREBENCH_TOOLS` names, else in `.tools/bin` of the project or of a folder
/// above it in its repository, else on PATH, else where `go install` puts programs. `wirebench` is always the program that runs
/// now.
pub fn locate(root: &Path, program: &str) -> Option<PathBuf> {
    if program == "wirebench" {
        return std::env::current_exe().ok();
    }
    let named = std::env::var_os("WIREBENCH_TOOLS").filter(|folder| !folder.is_empty());
    let named = named.map(|folder| PathBuf::from(folder).join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    named
        .into_iter()
        .chain(own_folders(root))
        .chain(std::env::split_paths(&path))
        .chain(go_install())
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
}

/// The tool folders of a project: its own, and those of the folders above it up to the repository's root.
fn own_folders(root: &Path) -> Vec<PathBuf> {
    let root = std::path::absolute(root).unwrap_or_else(|_| root.to_path_buf());
    let top = root.ancestors().position(|folder| folder.join(".git").exists());
    let folders = root.ancestors().take(top.unwrap_or(0) + 1);
    folders.map(|folder| folder.join(".tools/bin")).collect()
}

/// Go's own rule: GOBIN, else bin below the first folder of GOPATH, else below `go` in the home folder.
fn go_install() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(bin) = set("GOBIN") {
        return Some(PathBuf::from(bin));
    }
    let first = set("GOPATH").and_then(|path| std::env::split_paths(&path).next());
    let home = || Some(PathBuf::from(set("HOME")?).join("go"));
    Some(first.or_else(home)?.join("bin"))
}

/// Finds a driver's program and checks its version. Returns its path and its version.
///
/// # Errors
/// When it is missing, its version cannot be found, or it has another version.
pub fn check(root: &Path, driver: &Driver) -> Result<(PathBuf, String), String> {
    let tool = &driver.tool;
    let Some(path) = locate(root, &tool.program) else {
        return Err(format!("{} is not installed; run: {}", tool.program, tool.install));
    };
    let version = version(tool, &path)?;
    let wanted = match (&tool.version, &tool.at_least) {
        (Some(exact), _) if *exact != version => exact.clone(),
        (None, Some(least)) if numbers(&version) < numbers(least) => format!("{least} or newer"),
        _ => return Ok((path, version)),
    };
    Err(format!(
        "{} is version {version}, but {wanted} is needed; run: {}",
        tool.program, tool.install
    ))
}

fn version(tool: &Tool, path: &Path) -> Result<String, String> {
    let no_version = |detail: String| {
        format!(
            "{}: cannot tell its version ({detail}); reinstall it with: {}",
            tool.program, tool.install
        )
    };
    let values = Values::from([("program", Value::One(path.to_string_lossy().into_owned()))]);
    let args: Vec<Arg> = tool.version_command.iter().cloned().map(Arg::One).collect();
    let argv = expand(&args, &values).map_err(no_version)?;
    let text = match wirebench_spawn::command(&argv[0]).args(&argv[1..]).output() {
        Ok(output) => {
            let texts = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
            texts.concat()
        }
        // A release brings hey and ghz to machines without Go.
        Err(error) => {
            let is_go =
                matches!(&argv[..], [go, version, modules, _] if go == "go" && version == "version" && modules == "-m");
            let modules = is_go.then(|| modules(path)).flatten();
            modules.ok_or_else(|| no_version(format!("{}: {error}", argv[0])))?
        }
    };
    let pattern = Regex::new(&tool.version_pattern).expect("Driver::read refuses a wrong pattern");
    let found = pattern.captures(&text).and_then(|groups| groups.get(1));
    found.map(|version| version.as_str().to_owned()).ok_or_else(|| {
        let first = text.lines().next().unwrap_or("nothing");
        no_version(format!("\"{}\" printed {first}", argv.join(" ")))
    })
}

/// The numbers of a version, for comparing: "v1.52.0" → [1, 52, 0].
fn numbers(version: &str) -> Vec<u64> {
    version
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|part| part.parse().ok())
        .collect()
}

/// The version line a program prints with `--version`, its name taken off; for tools that need no exact version.
pub fn plain_version(path: &Path) -> Option<String> {
    let output = wirebench_spawn::command(path).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().next()?.trim().to_owned();
    let name = path.file_name()?.to_string_lossy().into_owned();
    Some(
        line.strip_prefix(&name)
            .unwrap_or(&line)
            .trim_start_matches([' ', '-'])
            .to_owned(),
    )
}

/// What the section begins with.
const MAGIC: &[u8] = b"\xff Go buildinf:";
/// Set in the byte of flags if both texts follow the header in place, as since Go 1.18.
const INLINE: u8 = 2;
/// The flags' place, and the header's length, bytes.
const FLAGS: usize = 15;
const HEADER: usize = 32;
/// A mark of so many bytes stands before and after the modules.
const MARK: usize = 16;

/// The program's modules, a line each: `mod\tgithub.com/rakyll/hey\tv0.1.5\th1:…`. `None` if it is no ELF file of Go 1.18 or later.
/// Format: debug/buildinfo of the Go standard library.
pub(super) fn modules(program: &Path) -> Option<String> {
    let bytes = std::fs::read(program).ok()?;
    let file = object::File::parse(bytes.as_slice()).ok()?;
    let section = file.section_by_name(".go.buildinfo")?.data().ok()?;
    texts(section)
}

fn texts(section: &[u8]) -> Option<String> {
    if !section.starts_with(MAGIC) || section.get(FLAGS)? & INLINE == 0 {
        return None;
    }
    let (_version, rest) = text(section.get(HEADER..)?)?;
    let (modules, _) = text(rest)?;
    let lines = modules.get(MARK..modules.len().checked_sub(MARK)?)?;
    Some(String::from_utf8_lossy(lines).into_owned())
}

/// A text with its length in front, in seven bits a byte, and what follows it.
fn text(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut length = 0usize;
    for (place, byte) in bytes.iter().enumerate().take(4) {
        length |= usize::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            return bytes.get(place + 1..)?.split_at_checked(length);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{locate, numbers, own_folders};

    #[test]
    fn tools_of_the_project_and_of_its_repository_are_found_and_no_others() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("repository/examples/go");
        std::fs::create_dir_all(&project).unwrap();
        let below = |folders: &[&str]| -> Vec<_> {
            let all = folders.iter().map(|one| folder.path().join(one).join(".tools/bin"));
            all.collect()
        };
        assert_eq!(own_folders(&project), below(&["repository/examples/go"]));
        std::fs::create_dir(folder.path().join("repository/.git")).unwrap();
        let expected = below(&["repository/examples/go", "repository/examples", "repository"]);
        assert_eq!(own_folders(&project), expected);
        std::fs::create_dir_all(&expected[2]).unwrap();
        let tool = expected[2].join("wirebench-no-such-tool");
        std::fs::write(&tool, "").unwrap();
        assert_eq!(locate(&project, "wirebench-no-such-tool"), Some(tool));
        assert_eq!(locate(Path::new("/"), "wirebench-no-such-tool"), None);
    }

    #[test]
    fn versions_compare_by_number() {
        assert!(numbers("1.9") < numbers("1.15.0"));
        assert!(numbers("v1.52.0") >= numbers("1.52"));
    }
}

#[cfg(test)]
mod go_build_info_tests {
    use proptest::prelude::*;

    use super::*;

    /// A section with these modules, as the linker writes it.
    fn section(modules: &str) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.resize(HEADER, 0);
        bytes[FLAGS] = INLINE;
        let marked = format!("{0}{modules}{0}", "m".repeat(MARK));
        for text in ["go1.26.8", &marked] {
            let mut length = text.len();
            while length >= 0x80 {
                bytes.push(u8::try_from(length & 0x7f).unwrap() | 0x80);
                length >>= 7;
            }
            bytes.push(u8::try_from(length).unwrap());
            bytes.extend(text.as_bytes());
        }
        bytes
    }

    #[test]
    fn modules_are_read_and_older_formats_are_not() {
        let lines = format!(
            "path\tgithub.com/rakyll/hey\nmod\tgithub.com/rakyll/hey\tv0.1.5\n{}",
            "dep\tx\n".repeat(99)
        );
        assert_eq!(texts(&section(&lines)), Some(lines));
        let mut old = section("mod\tx\tv1\n");
        old[FLAGS] = 0;
        assert_eq!(texts(&old), None);
        assert_eq!(modules(Path::new("/proc/self/exe")), None, "not written in Go");
    }

    proptest! {
        #[test]
        fn a_damaged_section_is_refused_or_read(mut bytes in prop::collection::vec(any::<u8>(), 0..200), cut in 0usize..400) {
            let _ = texts(&bytes);
            let mut whole = section("mod\tx\tv1\n");
            whole.truncate(cut);
            let _ = texts(&whole);
            whole.append(&mut bytes);
            let _ = texts(&whole);
        }
    }
}
