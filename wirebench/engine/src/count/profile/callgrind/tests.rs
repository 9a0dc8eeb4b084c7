//! Callgrind's files, written by hand and by callgrind.

use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::{any, prop_assert, prop_assert_eq, prop_oneof, proptest};
use proptest::strategy::Just;

use super::format::parse;
use super::resolve;
use crate::count::profile::callgrind::{Instructions, Totals, read, totals};
use crate::count::profile::stacks::RunCost;
use crate::count::profile::tree::Tree;
use wirebench_declare::runtime::UnderCallgrind;

const HAND_WRITTEN: &str = "\
# callgrind format
version: 1
cmd: /server/shop --listen
positions: instr line
events: Ir
summary: 40

ob=(1) /server/shop
fl=(1) shop.c
fn=(1) main'(below main)
0x1000 5 10
+4 +1 2
cob=(2) /usr/lib/libc.so.6
cfi=(2) malloc.c
cfn=(2) malloc'main'(below main)
calls=3 0x400 90
* * 900
fi=(3) shop.h
+0x10 * 5

ob=(2)
fl=(2)
fn=(2)
0x400 90 20

ob=(1)
fl=(1)
fn=(3) 0x0000000000002000'main'(below main)
0x2000 0 3
fn=(4) walk.constprop.0'2'main'(below main)
0x3000 0 1
-0x8 0

totals: 41
";

fn text(file: &str) -> Result<Instructions, String> {
    let costs = parse(Path::new("counted.out"), file)?;
    Ok(resolve(costs, &Tree::default()))
}

fn lines(cost: &RunCost) -> Vec<String> {
    let mut lines: Vec<String> = cost
        .stacks
        .iter()
        .map(|(stack, cost)| {
            let names: Vec<&str> = stack.iter().map(|frame| frame.function.as_str()).collect();
            format!("{} {cost}", names.join(";"))
        })
        .collect();
    lines.sort();
    lines
}

fn recorded() -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/fixtures/profiles/callgrind.out");
    std::fs::read_to_string(file).unwrap()
}

#[test]
fn own_costs_are_read_by_whole_stack_and_inclusive_ones_left_out() {
    let read = text(HAND_WRITTEN).unwrap();
    assert_eq!(
        lines(&read.cost),
        [
            "(below main);main 17",
            "(below main);main;0x2000 in shop 3",
            "(below main);main;malloc 20",
            "(below main);main;walk 1",
        ]
    );
    assert_eq!((read.cost.total, read.cost.stacks.total()), (41, 41));
}

#[test]
fn functions_that_depend_on_timing_are_left_out_of_costs_and_total_but_for_those_that_are_kept() {
    let starts = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let runtime = UnderCallgrind {
        left_out: starts(&["ma", "0x0"]),
        kept: starts(&["main"]),
        allocators: starts(&["malloc"]),
    };
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), HAND_WRITTEN).unwrap();
    let left = read(file.path(), &Tree::default(), Some(&runtime)).unwrap();
    assert_eq!(lines(&left.cost), ["(below main);main 17", "(below main);main;walk 1"]);
    assert_eq!((left.cost.total, left.cost.stacks.total()), (18, 18));
    let counted = |instructions, allocations| Totals {
        instructions,
        allocations,
    };
    assert_eq!(totals(file.path(), Some(&runtime)).unwrap(), counted(18, Some(3)));
    assert_eq!(left.totals(), counted(18, Some(3)));
    assert_eq!(totals(file.path(), None).unwrap(), counted(41, None));
    // What an allocator calls to allocate is no allocation more, and no allocation at all is not known.
    let runtime = UnderCallgrind {
        allocators: starts(&["ma"]),
        ..runtime
    };
    assert_eq!(totals(file.path(), Some(&runtime)).unwrap(), counted(18, None));
}

/// Functions of a runtime between the program's code and the one that allocates: one is called by two functions, and one allocates in
/// half of its calls.
const ALLOCATING: &str = "\
# callgrind format
version: 1
positions: instr line
events: Ir

ob=(1) /server/shop
fl=(1) shop.go
fn=(1) main.order
0x1000 5 10
cfn=(2) runtime.newobject
calls=6 0x3000
0x1004 6 60
cfn=(3) runtime.concat
calls=4 0x4000
0x1008 7 40
fn=(4) main.price
0x2000 9 10
cfn=(2)
calls=2 0x3000
0x2004 9 20
fn=(2)
0x3000 1 8
cfn=(5) runtime.mallocgc
calls=8 0x5000
0x3004 1 80
fn=(3)
0x4000 1 4
cfn=(5)
calls=2 0x5000
0x4004 1 20
fn=(5)
0x5000 1 10
cfn=(6) runtime.mallocinit
calls=1 0x6000
0x5004 1 1
fn=(6)
0x6000 1 1

totals: 43
";

#[test]
fn what_the_runtime_allocates_is_charged_to_those_that_called_it() {
    let starts = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let runtime = UnderCallgrind {
        left_out: starts(&["runtime."]),
        kept: starts(&["runtime.malloc"]),
        allocators: starts(&["runtime.malloc"]),
    };
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), ALLOCATING).unwrap();
    let mut read = read(file.path(), &Tree::default(), Some(&runtime)).unwrap();
    assert_eq!(
        lines(&read.cost),
        [
            "main.order 10",
            "main.price 10",
            "runtime.mallocgc 10",
            "runtime.mallocinit 1"
        ]
    );
    assert_eq!(
        lines(&read.allocations.clone().unwrap()),
        ["main.order 8", "main.price 2"]
    );
    // Of two processes of one run.
    read.absorb(read.clone());
    let both = read.allocations.unwrap();
    assert_eq!(lines(&both), ["main.order 16", "main.price 4"]);
    assert_eq!(both.total, 20);
}

#[test]
fn costs_and_calls_that_no_number_holds_are_no_panic() {
    let most = u64::MAX.to_string();
    let costly = ALLOCATING
        .replace("0x1000 5 10", &format!("0x1000 5 {most}"))
        .replace("0x2000 9 10", &format!("0x2000 9 {most}"));
    assert_eq!(
        text(&costly).unwrap().cost.stacks.total(),
        2 * i128::from(u64::MAX) + 23
    );
    let often = ["calls=6 ", "calls=2 ", "calls=8 "];
    let often = often
        .into_iter()
        .fold(costly, |text, calls| text.replace(calls, &format!("calls={most} ")));
    let starts = |name: &str| vec![name.to_owned()];
    let runtime = UnderCallgrind {
        left_out: starts("runtime."),
        kept: starts("runtime.malloc"),
        allocators: starts("runtime.malloc"),
    };
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), often).unwrap();
    let read = read(file.path(), &Tree::default(), Some(&runtime)).unwrap();
    assert_eq!(read.totals(), totals(file.path(), Some(&runtime)).unwrap());
}

/// Each function calls the next; contexts name two callers at most.
fn chain(names: &[&str]) -> String {
    let context = |at: usize| {
        let from = at.saturating_sub(2);
        names[from..=at].iter().rev().copied().collect::<Vec<_>>().join("'")
    };
    let body = |at: usize| {
        let call = (at + 1 < names.len()).then(|| format!("cfn={}\ncalls=1 0x{}0\n+1 99\n", context(at + 1), at + 1));
        format!("fn={}\n0x{at}0 1\n{}\n", context(at), call.unwrap_or_default())
    };
    let bodies: String = (0..names.len()).map(body).collect();
    format!(
        "# callgrind format\npositions: instr\nevents: Ir\nob=/server/shop\n{bodies}totals: {}\n",
        names.len()
    )
}

#[test]
fn a_stack_deeper_than_contexts_name_callers_is_followed_to_its_start() {
    let read = text(&chain(&["main", "a", "b", "c", "d"])).unwrap();
    assert_eq!(
        lines(&read.cost),
        ["main 1", "main;a 1", "main;a;b 1", "main;a;b;c 1", "main;a;b;c;d 1"]
    );
}

#[test]
fn functions_that_call_each_other_deeper_than_that_are_no_endless_circle() {
    let read = text(&chain(&["main", "f", "g", "f", "g", "f", "g", "leaf"])).unwrap();
    assert_eq!(read.cost.stacks.total(), 8);
    assert!(
        lines(&read.cost).iter().any(|line| line.ends_with("f;g;leaf 1")),
        "{:?}",
        lines(&read.cost)
    );
}

#[test]
fn a_sum_that_is_not_callgrinds_is_remarked() {
    assert_eq!(text(HAND_WRITTEN).unwrap().remarks.len(), 1);
    let read = text(&HAND_WRITTEN.replace("totals: 41", "totals: 50")).unwrap();
    assert_eq!(
        read.remarks.last().unwrap(),
        "the functions add up to 41 instructions, callgrind counted 50"
    );
}

#[test]
fn functions_without_names_are_remarked_with_what_to_do() {
    let stripped = HAND_WRITTEN
        .replace(") main'(", ") 0x0000000000001000'(")
        .replace(") walk.constprop.0'", ") 0x00003000'");
    let read = text(&stripped).unwrap();
    assert_eq!(
        read.remarks,
        [
            "shop has no symbols: its functions are addresses; build it with debug = \"line-tables-only\" and without strip"
        ]
    );
    let generated = HAND_WRITTEN.replace("/server/shop\n", "???\n");
    let remarks = text(&generated).unwrap().remarks;
    assert!(
        remarks[0].starts_with("51 % of the instructions ran in code of no file"),
        "{remarks:?}"
    );
}

#[test]
fn several_events_and_parts_are_read() {
    let more = HAND_WRITTEN
        .replace("events: Ir", "events: Ge Ir")
        .replace("0x400 90 20", "0x400 90 7 20")
        .replace("totals: 41", "totals: 7 20");
    let read = parse(Path::new("x"), &more).unwrap();
    assert_eq!(read.costs.iter().map(|cost| cost.amount).sum::<u64>(), 20);
    assert_eq!(read.total, 20);
    let twice = format!(
        "{HAND_WRITTEN}\n{}",
        HAND_WRITTEN.trim_start_matches("# callgrind format\n")
    );
    assert_eq!(text(&twice).unwrap().cost.total, 82);
}

#[test]
fn what_callgrind_does_not_write_is_named_with_its_line() {
    for (from, to, expected) in [
        (
            "# callgrind format",
            "hello",
            "counted.out: does not begin with `# callgrind format`",
        ),
        (
            "positions: instr line",
            "positions: line",
            "counted.out:4: expected addresses, written with --dump-instr=yes",
        ),
        ("events: Ir", "events: Dr", "counted.out:5: expected instructions"),
        (
            "ob=(2)\n",
            "ob=(9)\n",
            "counted.out:21: expected an object named before",
        ),
        (
            "0x400 90 20",
            "0x400 90 many",
            "counted.out:24: expected a count of instructions",
        ),
        ("0x2000 0 3", "0x20g0 0 3", "counted.out:29: expected an address"),
        ("fn=(1) main", "xy=(1) main", "counted.out:10: expected a place"),
        ("fl=(1) shop.c", "what is this", "counted.out:9: expected `key: value`"),
        ("totals: 41", "totals: all", "counted.out:34: expected the sum"),
        ("totals: 41\n", "", "counted.out: ends without its `totals:` line"),
    ] {
        let error = text(&HAND_WRITTEN.replacen(from, to, 1)).unwrap_err();
        assert!(error.starts_with(expected), "{from} → {to}: {error}");
    }
}

#[test]
fn a_recorded_file_adds_up() {
    let read = text(&recorded()).unwrap();
    assert_eq!((read.cost.total, read.cost.stacks.total()), (47_913, 47_913));
    let lines = lines(&read.cost);
    let map = "h2::proto::streams::send::Send::check_headers;http::header::map::hash_elem_using";
    assert!(lines.iter().any(|line| line.contains(map)), "{lines:#?}");
    assert!(lines.iter().all(|line| !line.contains('\'')), "{lines:#?}");
}

#[test]
fn a_missing_file_says_what_to_do() {
    let error = read(Path::new("no/such/file"), &Tree::default(), None).unwrap_err();
    assert!(
        error.contains("no/such/file: cannot be read") && error.contains("SIGTERM"),
        "{error}"
    );
}

proptest! {
    #[test]
    fn a_file_cut_off_anywhere_is_an_error(at in any::<proptest::sample::Index>()) {
        for whole in [HAND_WRITTEN.to_owned(), recorded()] {
            let end = at.index(whole.len());
            if let Some(cut) = whole.get(..end) {
                prop_assert!(text(cut).is_err());
            }
        }
    }

    #[test]
    fn nothing_makes_it_panic(
        noise in any::<String>(),
        parts in vec(prop_oneof![
            Just("positions: instr line\nevents: Ir\n".to_owned()),
            Just("fn=(1) a'b\n".to_owned()),
            Just("calls=1 0x1 1\n".to_owned()),
            Just("totals: 5\n".to_owned()),
            "[a-z]{0,5}[=:][(0-9) a-z']{0,9}\n",
            "[-+*]?(0x)?[0-9a-f]{0,20} [*0-9]{0,3} [0-9]{0,22}\n",
            Just("* * 18446744073709551615\n".to_owned()),
        ], 0..12),
    ) {
        text(&noise).ok();
        text(&format!("# callgrind format\n{noise}")).ok();
        text(&format!("# callgrind format\n{}", parts.concat())).ok();
    }

    #[test]
    fn written_costs_are_read_back(costs in vec((0u64..1 << 40, 0u64..1 << 40), 1..20)) {
        let mut written = "# callgrind format\npositions: instr line\nevents: Ir\nfn=(1) main\n".to_owned();
        let mut last = 0u64;
        for (address, cost) in &costs {
            let relative = if *address >= last { format!("+{}", address - last) } else { format!("-{}", last - address) };
            written.push_str(&format!("{relative} * {cost}\n"));
            last = *address;
        }
        let sum: u64 = costs.iter().map(|(_, cost)| cost).sum();
        written.push_str(&format!("totals: {sum}\n"));
        let read = parse(Path::new("x"), &written).unwrap();
        let back: Vec<(u64, u64)> = read.costs.iter().map(|cost| (cost.address, cost.amount)).collect();
        prop_assert_eq!(back, costs);
        prop_assert_eq!(read.total, sum);
    }
}
