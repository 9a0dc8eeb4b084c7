//! The fixture server in C does what its head says, so that a test of counting fails for the reason it is about.

use std::process::Command;

use crate::bench::{Bench, series};
use crate::built;

#[test]
fn the_c_server_serves_a_driver() {
    let mut bench = Bench::new()
        .driver("fake", "ok")
        .stripped_c_server("stripped", "good", "")
        .c_server("soon-ready", "slow-ready=1", "");
    let modes = ["good", "work", "alloc", "dearer", "background", "unknown-instruction"];
    for mode in modes {
        bench = bench.c_server(mode, mode, "");
    }
    let ended = bench.run(&["run"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    for name in modes.into_iter().chain(["stripped", "soon-ready"]) {
        assert_eq!(series(&bench.record(), &format!("ask@{name}@fake"))["status"], "ok");
    }
}

#[test]
fn the_c_server_breaks_when_asked_to() {
    let bench = Bench::new()
        .driver("fake", "ok")
        .c_server("crash", "crash", "")
        .c_server("never", "never-ready", "ready_timeout = \"300ms\"");
    assert_eq!(bench.run(&["run"]).code, 1);
    for (name, word) in [("crash", "signal"), ("never", "not ready within 300ms")] {
        let record = bench.record();
        let reason = series(&record, &format!("ask@{name}@fake"))["reason"].to_string();
        assert!(reason.contains(word), "{reason}");
    }
}

#[test]
fn the_c_server_hangs_up_and_a_driver_that_retries_does_not_say_so() {
    let bench = Bench::new().c_server("drop", "drop", "").real_driver("hey");
    let ended = bench.run(&["run"]);
    let record = bench.record();
    let round = &series(&record, "ask@drop@hey")["rounds"][0];
    assert_eq!(round["ok_count"], 200, "{}\n{round}", ended.stderr);
}

#[test]
fn the_stripped_c_server_has_no_symbols() {
    let symbols = |program| Command::new("nm").arg(program).output().unwrap();
    let stripped = symbols(built::stripped_c_server());
    assert_eq!(String::from_utf8_lossy(&stripped.stdout), "");
    let whole = symbols(built::c_server());
    assert!(String::from_utf8_lossy(&whole.stdout).contains(" T compute\n"));
}
