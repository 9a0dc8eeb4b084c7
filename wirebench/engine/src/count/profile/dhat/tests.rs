//! DHAT's files, written by hand and by DHAT.

use std::path::{Path, PathBuf};

use proptest::prelude::{any, prop_assert, proptest};
use tempfile::TempDir;

use super::{Allocated, DhatFrame, read};
use crate::count::profile::frame::{Origin, Rule};
use crate::count::profile::per_request::{FunctionSpending, per_request};
use crate::count::profile::stacks::Stacks;
use crate::count::profile::tree::Tree;

const HAND_WRITTEN: &str = r#"{"dhatFileVersion":2,"mode":"heap","verb":"Allocated","cmd":"/server/shop --listen",
 "pps":[{"tb":96,"tbk":3,"fs":[1,2,3,4]},{"tb":5,"tbk":1,"fs":[1,4]}],
 "ftbl":["[root]","0x99: malloc (in /usr/libexec/valgrind/dhat.so)","0x20: alloc (library/alloc/src/alloc.rs:9)",
  "0x20: shop::sell (sell.rs:4)","0x31: main (in /server/shop)"]}"#;

fn written(text: &[u8]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("allocated.json");
    std::fs::write(&file, text).unwrap();
    (folder, file)
}

fn text(text: &[u8]) -> Result<Allocated, String> {
    let (_folder, file) = written(text);
    read(&file, &Tree::default())
}

fn recorded() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/fixtures/profiles/dhat.json")
}

/// Own costs by name.
fn own(functions: &[FunctionSpending]) -> Vec<(String, f64)> {
    let functions = functions.iter();
    functions.map(|spent| (spent.function.clone(), spent.own)).collect()
}

#[test]
fn blocks_and_bytes_are_read_by_stack_and_belong_to_who_asked() {
    let read = text(HAND_WRITTEN.as_bytes()).unwrap();
    assert_eq!((read.blocks.total, read.bytes.total), (4, 101));
    let none = Stacks::new(Rule::Allocations);
    let blocks = per_request(&[&none], &[&read.blocks.stacks], 1);
    assert_eq!(
        own(&blocks.functions(9)),
        [("shop::sell".to_owned(), 3.0), ("main".to_owned(), 1.0)]
    );
    assert_eq!(blocks.folded(), "main;malloc 1000\nmain;shop::sell;alloc;malloc 3000\n");
    let bytes = per_request(&[&none], &[&read.bytes.stacks], 1);
    assert_eq!(own(&bytes.functions(1)), [("shop::sell".to_owned(), 96.0)]);
}

#[test]
fn a_recorded_file_adds_up() {
    let read = read(&recorded(), &Tree::default()).unwrap();
    assert_eq!((read.blocks.total, read.bytes.total), (3605, 580_392));
    assert_eq!((read.blocks.stacks.total(), read.bytes.stacks.total()), (3605, 580_392));
}

#[test]
fn a_foreign_file_is_an_error_that_says_so() {
    for (bytes, expected) in [
        (b"hello".as_slice(), "not what valgrind's DHAT writes"),
        (b"{}", "not what valgrind's DHAT writes"),
        (b"\xff\xfe", "not what valgrind's DHAT writes"),
        (
            HAND_WRITTEN.replace("heap", "copy").as_bytes(),
            "expected DHAT's file version 2 in mode heap, found version 2 in mode copy",
        ),
        (
            HAND_WRITTEN.replace("[1,4]", "[1,7]").as_bytes(),
            "a stack names frame Some(7) of 5",
        ),
    ] {
        let error = text(bytes).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}

proptest! {
    #[test]
    fn a_file_cut_off_anywhere_is_an_error(at in any::<proptest::sample::Index>()) {
        let whole = std::fs::read(recorded()).unwrap();
        let whole = whole.trim_ascii_end();
        prop_assert!(text(&whole[..at.index(whole.len())]).is_err());
    }

    #[test]
    fn nothing_makes_it_panic(bytes in any::<Vec<u8>>(), frames in any::<[String; 3]>(), fs in any::<[u8; 4]>()) {
        text(&bytes).ok();
        let document = serde_json::json!({
            "dhatFileVersion": 2, "mode": "heap", "cmd": frames[0], "ftbl": frames,
            "pps": [{"tb": u64::MAX, "tbk": 1, "fs": fs.map(|at| at % 4)}, {"tb": 1, "tbk": 1, "fs": []}],
        });
        text(document.to_string().as_bytes()).ok();
    }
}

#[test]
fn a_frame_is_taken_apart() {
    for (text, address, name, file, object) in [
        ("[root]", None, "[root]", None, None),
        ("0x1A: main (in /a/b)", Some(0x1a), "main", None, Some("/a/b")),
        ("0x1A: ??? (in /a/b)", Some(0x1a), "???", None, Some("/a/b")),
        (
            "0x1A: f(int, char) (a/b.c:12)",
            Some(0x1a),
            "f(int, char)",
            Some("a/b.c"),
            None,
        ),
        ("0x1A: f<a::B> (b.rs:3)", Some(0x1a), "f<a::B>", Some("b.rs"), None),
        ("0x1A: f(int)", Some(0x1a), "f(int)", None, None),
        (
            "0x1A: (below main) (x.h:58)",
            Some(0x1a),
            "(below main)",
            Some("x.h"),
            None,
        ),
        ("0x1A: ???", Some(0x1a), "???", None, None),
    ] {
        let expected = DhatFrame {
            address,
            name,
            file,
            object,
        };
        assert_eq!(DhatFrame::new(text), expected, "{text}");
    }
}

#[test]
fn a_frame_without_a_name_is_an_address_and_the_root_is_none() {
    let frame = DhatFrame::new("0x1A0: ??? (in /a/lib.so)").frame(false).unwrap();
    assert_eq!(
        (frame.function.as_str(), frame.origin),
        ("0x1a0 in lib.so", Origin::Foreign)
    );
    assert_eq!(DhatFrame::new("[root]").frame(false), None);
    let inlined = DhatFrame::new("0x1: alloc (library/alloc/src/alloc.rs:95)")
        .frame(true)
        .unwrap();
    assert_eq!(inlined.origin, Origin::Standard);
}

proptest! {
    #[test]
    fn any_text_is_a_frame(text in any::<String>(), crooked in "0x[0-9A-G]{0,18}[: (in)/a.c0-9]{0,20}") {
        DhatFrame::new(&text).frame(true);
        DhatFrame::new(&crooked).frame(false);
    }
}
