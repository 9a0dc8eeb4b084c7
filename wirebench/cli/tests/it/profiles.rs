//! Small programs of known cost, counted by the real valgrind and strace: what is read is what they spend.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use wirebench_engine::count::profile::{
    PerRequest, RunCost, Stacks, Tree, callgrind, dearest_lines, dhat, per_request, strace,
};

/// A compiled fixture in a folder of its own.
struct Program {
    folder: TempDir,
}

impl Program {
    fn compiled(compiler: &str, args: &[&str], source: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/fixtures/profiles")
            .join(source);
        run(Command::new(compiler)
            .args(args)
            .arg("-o")
            .arg(folder.path().join("program"))
            .arg(source));
        Self { folder }
    }

    fn c(args: &[&str]) -> Self {
        Self::compiled("cc", args, "shop.c")
    }

    fn rust(args: &[&str]) -> Self {
        let optimised = ["--edition", "2024", "-C", "opt-level=3"];
        Self::compiled("rustc", &[&optimised, args].concat(), "stall.rs")
    }

    /// Serves so many requests under a tool, and names the file that the tool wrote.
    fn counted(&self, tool: &[&str], requests: u64) -> PathBuf {
        let file = self.folder.path().join(format!("counted.{requests}"));
        let out = |arg: &&str| arg.replace("FILE", &file.to_string_lossy());
        let args: Vec<String> = tool.iter().map(out).collect();
        let program = self.folder.path().join("program");
        run(Command::new(&args[0])
            .args(&args[1..])
            .arg(program)
            .arg(requests.to_string()));
        file
    }

    fn instructions(&self, requests: u64) -> callgrind::Instructions {
        let tool = [
            "valgrind",
            "--tool=callgrind",
            "--dump-instr=yes",
            "--separate-callers=40",
            "--callgrind-out-file=FILE",
        ];
        callgrind::read(&self.counted(&tool, requests), &tree(), None).unwrap()
    }

    fn allocated(&self, requests: u64) -> dhat::Allocated {
        let tool = ["valgrind", "--tool=dhat", "--num-callers=60", "--dhat-out-file=FILE"];
        dhat::read(&self.counted(&tool, requests), &tree()).unwrap()
    }

    fn syscalls(&self, requests: u64) -> BTreeMap<String, u64> {
        strace::read(&self.counted(&["strace", "-c", "-f", "-o", "FILE"], requests)).unwrap()
    }
}

/// Where the programs' sources lie.
fn tree() -> Tree {
    Tree::of(Some(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/profiles"),
    ))
}

fn run(command: &mut Command) {
    let program = command.get_program().to_string_lossy().into_owned();
    let ended = command
        .output()
        .unwrap_or_else(|error| panic!("{program} cannot be run ({error}): this test needs it; install it"));
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{program}: {}: {said}", ended.status);
}

/// Own costs, the most expensive first.
fn own(slopes: &PerRequest, at_most: usize) -> Vec<(String, f64)> {
    let functions = slopes.functions(usize::MAX).into_iter();
    let mut own: Vec<(String, f64)> = functions.map(|spent| (spent.function, spent.own)).collect();
    own.retain(|(_, cost)| *cost != 0.0);
    own.sort_by(|one, other| other.1.abs().total_cmp(&one.1.abs()));
    own.truncate(at_most);
    own
}

fn cost(slopes: &PerRequest, function: &str) -> f64 {
    let functions = own(slopes, usize::MAX);
    let found = functions.iter().find(|(name, _)| name == function);
    found.unwrap_or_else(|| panic!("no {function} in {functions:?}")).1
}

/// The line that a function spends most on per request, `file:line`.
fn line(few: &RunCost, many: &RunCost, function: &str) -> Option<String> {
    let found = dearest_lines(&[few], &[many]);
    found
        .get(function)
        .map(|source| format!("{}:{}", source.file, source.line))
}

fn stacks(read: &[callgrind::Instructions]) -> Vec<&Stacks> {
    read.iter().map(|read| &read.cost.stacks).collect()
}

#[test]
fn every_instruction_of_a_c_program_is_found_where_it_is_spent() {
    let program = Program::c(&["-O1", "-g", "-fno-optimize-sibling-calls"]);
    let read = [10, 30, 50].map(|requests| program.instructions(requests));
    for read in &read {
        assert_eq!(i128::from(read.cost.total), read.cost.stacks.total());
        assert_eq!(read.remarks, Vec::<String>::new());
    }
    let slopes = per_request(&stacks(&read[1..2]), &stacks(&read[2..]), 20);
    let expected = (read[2].cost.total - read[1].cost.total) as f64 / 20.0;
    assert_eq!(slopes.total(), expected);
    assert_eq!(cost(&slopes, "bargain"), 500.0);
    // Three deep, 36 of them known and a few to test, call and return.
    let pack = cost(&slopes, "pack");
    assert!(pack % 1.0 == 0.0 && (108.0..150.0).contains(&pack), "{pack}");
    let folded = slopes.folded();
    assert!(folded.contains(";main;serve;bargain 500000\n"), "{folded}");
    assert!(folded.contains(&format!(";main;serve;pack {pack}000\n")), "{folded}");
    for (function, expected) in [("bargain", "shop.c:7"), ("pack", "shop.c:10")] {
        let found = line(&read[1].cost, &read[2].cost, function);
        assert_eq!(found.as_deref(), Some(expected), "{function}");
    }
    assert_eq!(line(&read[1].cost, &read[2].cost, "malloc"), None);
    // The first requests may grow the heap; after that, every request costs the same.
    let earlier = per_request(&stacks(&read[..1]), &stacks(&read[1..2]), 20);
    assert_eq!(own(&earlier, 3), own(&slopes, 3));
}

#[test]
#[ignore = "nightly"]
fn every_block_of_a_c_program_belongs_to_the_function_that_asked() {
    for linking in [&["-O1", "-g"], &["-O1", "-g", "-no-pie"][..]] {
        let program = Program::c(linking);
        let (few, many) = (program.allocated(10), program.allocated(30));
        assert_eq!(
            (many.blocks.total - few.blocks.total, many.bytes.total - few.bytes.total),
            (140, 3360)
        );
        let blocks = per_request(&[&few.blocks.stacks], &[&many.blocks.stacks], 20);
        assert_eq!(own(&blocks, 9), [("stock".to_owned(), 7.0)]);
        let bytes = per_request(&[&few.bytes.stacks], &[&many.bytes.stacks], 20);
        assert_eq!(own(&bytes, 9), [("stock".to_owned(), 168.0)]);
        assert_eq!(blocks.folded(), "main;serve;stock;malloc 7000\n");
        for (few, many) in [(&few.blocks, &many.blocks), (&few.bytes, &many.bytes)] {
            assert_eq!(line(few, many, "stock").as_deref(), Some("shop.c:16"));
        }
    }
}

#[test]
#[ignore = "nightly"]
fn every_system_call_of_a_c_program_is_counted_by_name() {
    let program = Program::c(&["-O1"]);
    let (few, many) = (program.syscalls(10), program.syscalls(30));
    assert_eq!((few["getppid"], many["getppid"]), (30, 90));
    assert_eq!((few["execve"], many["execve"]), (1, 1));
}

#[test]
#[ignore = "nightly"]
fn an_inlined_rust_function_carries_what_the_standard_library_spends_in_it() {
    let program = Program::rust(&["-C", "debuginfo=line-tables-only"]);
    let read = [10, 30].map(|requests| program.instructions(requests));
    assert_eq!(read[1].remarks, Vec::<String>::new());
    let slopes = per_request(&stacks(&read[..1]), &stacks(&read[1..]), 20);
    let haggle = cost(&slopes, "stall::haggle");
    assert_eq!(own(&slopes, 1), [("stall::haggle".to_owned(), haggle)]);
    assert!((1000.0..10_000.0).contains(&haggle), "{haggle}");
    let folded = slopes.folded();
    assert!(
        folded.contains(";stall::main;stall::serve;stall::haggle;core::iter::"),
        "{folded}"
    );

    // A caller that is inlined is found by the address of the call.
    let inlined = |line: &str| line.contains(";stall::serve;stall::gather;") && line.contains("malloc");
    assert!(folded.lines().any(inlined), "{folded}");
    let whole: f64 = slopes
        .functions(usize::MAX)
        .iter()
        .filter_map(|spent| spent.blamed)
        .sum();
    assert!((whole - slopes.total()).abs() < 1e-6, "{whole}");

    // What the standard library spends is charged to the line that calls it.
    let found = line(&read[0].cost, &read[1].cost, "stall::haggle").unwrap();
    assert!(["stall.rs:8", "stall.rs:9"].contains(&found.as_str()), "{found}");

    let (few, many) = (program.allocated(10), program.allocated(30));
    let bytes = per_request(&[&few.bytes.stacks], &[&many.bytes.stacks], 20);
    assert_eq!(own(&bytes, 9), [("stall::gather".to_owned(), 512.0)]);
    let found = line(&few.blocks, &many.blocks, "stall::gather");
    assert_eq!(found.as_deref(), Some("stall.rs:15"));
}

#[test]
fn a_stripped_program_is_counted_and_the_remark_says_what_to_do() {
    let program = Program::rust(&["-C", "strip=symbols"]);
    let read = [10, 30].map(|requests| program.instructions(requests));
    let advice = "build it with debug = \"line-tables-only\" and without strip";
    assert_eq!(
        read[1].remarks,
        [format!("program has no symbols: its functions are addresses; {advice}")]
    );
    let slopes = per_request(&stacks(&read[..1]), &stacks(&read[1..]), 20);
    let (name, _) = own(&slopes, 1).remove(0);
    assert!(name.starts_with("0x") && name.ends_with(" in program"), "{name}");
    assert_eq!(slopes.total(), (read[1].cost.total - read[0].cost.total) as f64 / 20.0);

    let (few, many) = (program.allocated(10), program.allocated(30));
    assert_eq!(many.blocks.total - few.blocks.total, 20);
}
