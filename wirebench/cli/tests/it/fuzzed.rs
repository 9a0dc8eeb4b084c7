//! The fuzz targets over the committed corpus and what is near it, with a stable compiler: the same functions, far fewer inputs.

#[expect(unreachable_pub, reason = "a library elsewhere")]
#[path = "../../../fuzz/src/lib.rs"]
mod targets;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use wirebench_engine::normalise::Shape;
use wirebench_github::{admit, archive, strict};
use wirebench_history::import;
use wirebench_record::run::Run;

type Target = fn(&[u8]);

/// Every target, by its name.
const TARGETS: [(&str, Target); 8] = [
    ("archive", targets::archive),
    ("callgrind", targets::callgrind),
    ("comparison", targets::comparison),
    ("data_js", data_js),
    ("declarations", targets::declarations),
    ("run", targets::run),
    ("shape", targets::shape),
    ("strace", targets::strace),
];
/// Inputs made of each file of the corpus.
const NEAR: usize = 60;
/// A file that is larger is for fuzzing itself.
const MOST_BYTES: usize = 16 * 1024;

fn data_js(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        targets::data_js(text);
    }
}

/// The file with a piece cut out, some bytes replaced, or a piece said twice.
fn near(bytes: &[u8], chance: &mut ChaCha8Rng) -> Vec<u8> {
    const TELLING: &[u8] = b"\0\n\"'[]{}:,=-+.019eEx \xff";
    let mut other = bytes.to_vec();
    let (one, two) = (
        chance.random_range(0..=bytes.len()),
        chance.random_range(0..=bytes.len()),
    );
    let piece = one.min(two)..one.max(two);
    match chance.random_range(0..4) {
        0 => other.truncate(one),
        1 => drop(other.drain(piece)),
        2 => other.extend_from_slice(&bytes[piece]),
        _ => {
            for _ in 0..=chance.random_range(0..4) {
                if let Some(place) = other.get_mut(chance.random_range(0..=bytes.len())) {
                    *place = TELLING[chance.random_range(0..TELLING.len())];
                }
            }
        }
    }
    other
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap().flatten();
    entries
        .map(|entry| entry.path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect()
}

#[test]
fn every_target_ends_well_on_the_corpus_and_near_it() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz");
    let known: BTreeSet<String> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(names(&fuzz.join("fuzz_targets")), known, "a target is missing here");
    assert_eq!(names(&fuzz.join("corpus")), known, "a target has no corpus");
    for (name, target) in TARGETS {
        let mut files: Vec<_> = fs::read_dir(fuzz.join("corpus").join(name))
            .unwrap()
            .flatten()
            .collect();
        files.sort_by_key(fs::DirEntry::path);
        assert!(files.len() > 1, "{name} has too small a corpus");
        for file in files {
            let bytes = fs::read(file.path()).unwrap();
            assert!(bytes.len() <= MOST_BYTES, "{} is too large", file.path().display());
            let mut chance = ChaCha8Rng::seed_from_u64(7);
            target(&bytes);
            for number in 0..NEAR {
                let input = near(&bytes, &mut chance);
                let ran = std::panic::catch_unwind(|| target(&input));
                assert!(
                    ran.is_ok(),
                    "{}, input {number}: {:?}",
                    file.path().display(),
                    String::from_utf8_lossy(&input)
                );
            }
        }
    }
}

#[test]
fn the_corpus_has_input_that_is_good() {
    let file = |name: &str| fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(name)).unwrap();
    let of = admit::ComparedCommits {
        head: "1111111111111111111111111111111111111111",
        base: "0000000000000000000000000000000000000000",
    };
    let comparison = strict::parse(&file("comparison/good.json")).map(|value| admit::admit(value, &of).is_ok());
    assert!(comparison.is_ok_and(|admitted| admitted), "comparison");
    assert!(
        serde_json::from_slice::<Run>(&file("run/reference.json")).is_ok(),
        "run"
    );
    for name in ["upload-artifact.zip", "stored.zip"] {
        let archive = file(&format!("archive/{name}"));
        assert!(archive::only_file(&archive, "comparison.json").is_ok(), "{name}");
    }
    for name in ["hey.json", "histogram.json"] {
        assert!(
            serde_json::from_slice::<Shape>(&file(&format!("shape/{name}"))).is_ok(),
            "{name}"
        );
    }
    let text = String::from_utf8(file("data_js/dirty.js")).unwrap();
    assert!(import::parse(&text).is_ok(), "data_js");
}
