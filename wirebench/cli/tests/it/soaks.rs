//! Soaks: one server for the whole length, memory read between slices.

use serde_json::Value;

use crate::bench::Bench;

const WORDS: [&str; 7] = ["soak", "--server", "py", "--operation", "ask", "--connections", "4"];

fn words(more: &[&'static str]) -> Vec<&'static str> {
    [&WORDS[..], more].concat()
}

#[test]
fn a_server_is_loaded_for_so_long_and_its_memory_said() {
    let bench = Bench::new().c_server("py", "good", "").real_driver("hey");
    let ended = bench.run(&words(&["--length", "3s", "--share", "50%", "--json"]));
    let found: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{}", ended.stderr));
    assert_eq!(ended.code, 0, "{found}");
    // hey keeps no rate: half the connections, in a closed loop.
    assert_eq!((&found["rate_per_s"], &found["connections"]), (&Value::Null, &2.into()));
    assert_eq!(
        (&found["slices"], &found["slice_ns"]),
        (&3.into(), &1_000_000_000_u64.into())
    );
    assert_eq!(
        (&found["failures"], &found["flat"]),
        (&0.into(), &true.into()),
        "{found}"
    );
    assert!(found["requests"].as_u64().unwrap() > 100, "{found}");
    assert!(
        found["memory"][0]["first_quarter_bytes"].as_f64().unwrap() > 100_000.0,
        "{found}"
    );
    assert_eq!(ended.stderr.matches("slice ").count(), 3, "{}", ended.stderr);
}

#[test]
fn failures_and_wrong_words_are_said() {
    let bench = Bench::new().server("py", "fails-under-load", "").real_driver("hey");
    let ended = bench.run(&words(&["--length", "2s"]));
    assert_eq!(ended.code, 1, "{}{}", ended.stdout, ended.stderr);
    assert!(ended.stdout.contains("× status 500"), "{}", ended.stdout);
    for (more, said) in [
        (
            &["--share", "120%"][..],
            "--share 120%: expected more than 0% and at most 100%",
        ),
        (&["--driver", "nobody"][..], "--driver nobody: matches no driver"),
    ] {
        let ended = bench.run(&words(more));
        assert_eq!(ended.code, 2, "{}", ended.stderr);
        assert!(ended.stderr.contains(said), "expected {said:?} in {}", ended.stderr);
    }
    let ended = bench.run(&["soak", "--server", "py", "--operation", "sing"]);
    assert!(
        ended.stderr.contains("server py has no such operation; there are ask"),
        "{}",
        ended.stderr
    );
}
