//! Ctrl-C in the middle of a run: every child stops, what was measured stays, the record says incomplete.

use std::io::{BufRead, BufReader};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::bench::{Bench, series};

#[test]
fn an_interrupted_run_keeps_what_it_measured() {
    interrupted(&["run", "--rounds", "50"], "round 2/50", Signal::SIGINT);
}

#[test]
fn a_terminal_that_is_closed_ends_server_and_load_generator_too() {
    if ignores_hangup() {
        println!("not asked: these tests run under nohup, which says that a closed terminal ends nothing");
        return;
    }
    interrupted(&["run", "--rounds", "50"], "round 2/50", Signal::SIGHUP);
}

/// Whether this process, and so every child of it, was started with the signal of a closed terminal ignored.
pub(crate) fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(mask.trim(), 16).unwrap() & 1 == 1
}

#[test]
fn so_does_one_of_two_variants() {
    let begins = "stage 1/2 screen · round 2/50";
    interrupted(
        &["run", "--baseline", "v1", "--rounds", "50", "--measure-identical"],
        begins,
        Signal::SIGTERM,
    );
}

/// Interrupts a run once it has said that its second round begins.
fn interrupted(args: &[&str], begins: &str, signal: Signal) {
    let bench = Bench::new().server("py", "ok", "").driver("fake", "slow").commit("v1");
    let mut child = bench.start(args);
    let mut talk = BufReader::new(child.stderr.take().unwrap()).lines();
    // The second round has begun, so the first is measured.
    talk.by_ref()
        .map_while(Result::ok)
        .find(|line| line.starts_with(begins))
        .expect("a second round");
    let asked = Instant::now();
    kill(Pid::from_raw(child.id().try_into().unwrap()), signal).unwrap();
    let rest: Vec<String> = talk.map_while(Result::ok).collect();
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(128 + signal as i32), "{rest:?}");
    assert!(
        // Fifty rounds of the slow driver take longer.
        asked.elapsed() < Duration::from_secs(45),
        "took {:?} to stop",
        asked.elapsed()
    );
    assert_eq!(bench.left_behind(), Vec::<String>::new());

    let record = bench.record();
    assert_eq!(record["status"], "incomplete");
    assert_eq!(record["reason"], "interrupted");
    let found = series(&record, "ask@py@fake");
    assert_eq!(found["status"], "incomplete");
    let rounds = found["rounds"].as_array().unwrap();
    assert!(!rounds.is_empty() && rounds.len() < 50, "{} rounds", rounds.len());
    assert!(rounds.iter().all(|round| round["status"] == "ok"), "{rounds:?}");
}
