//! An acceptance comes with the change that it accepts, and holds for that change only.

use crate::bench::Bench;
use serde_json::json;

#[test]
fn an_entry_that_the_baseline_does_not_have_is_in_the_record() {
    let bench = Bench::new().server("py", "ok", "").driver("fake", "ok").commit("v1");
    let added = bench.run(&[
        "accept",
        "--series",
        "ask@*@*",
        "--at-most",
        "8%",
        "--reason",
        "answers are checked",
    ]);
    assert_eq!(added.code, 0, "{}", added.stderr);
    let run = |baseline: &str, out: &str| {
        let done = bench.run(&[
            "run",
            "--baseline",
            baseline,
            "--rounds",
            "8",
            "--measure-identical",
            "--budget",
            "1ms",
            "--out",
            out,
        ]);
        assert!(done.code <= 1, "{}", done.stderr);
        crate::bench::record_in(&bench.path(out))["accepted"].clone()
    };
    assert_eq!(
        run("v1", "results/before"),
        json!([{"series": "ask@*@*", "at_most_percent": 8.0, "reason": "answers are checked"}])
    );
    let bench = &bench;
    bench.git(&["add", "."]);
    bench.git(&["commit", "--quiet", "--message", "accept"]);
    assert_eq!(run("HEAD", "results/after"), json!([]));
}
