//! Checks what a server wastes on request, counted by valgrind and strace.
//!
//! Each check takes `ask`, which sends [`REQUESTS`] requests to the server at an address. Where the tools do not exist
//! (everywhere but on Linux), there is nothing to check.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use super::{Program, RUNTIMES};

/// The number of requests that `ask` sends.
pub const REQUESTS: u64 = 10;

/// A server with `--burn-ns` takes at least that long for each request.
pub fn a_burn_slows_every_request_down(program: Program, ask: impl Fn(SocketAddr)) {
    for runtime in RUNTIMES {
        let server = program.start(&["--runtime", runtime, "--burn-ns", "20000000"]);
        let started = Instant::now();
        ask(server.address);
        let took = started.elapsed();
        assert!(took >= Duration::from_millis(20 * REQUESTS), "{runtime}: {took:?}");
    }
}

/// Wasted instructions are as many as asked for; checked on x86-64, whose instructions are promised.
pub fn wasted_instructions_are_counted(program: Program, ask: impl Fn(SocketAddr)) {
    let tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"];
    let counted = |waste: &str| {
        number_after(
            &said(program, &tool, &["--waste-instructions", waste], &ask),
            "Collected : ",
        )
    };
    if !cfg!(target_arch = "x86_64") {
        return;
    }
    // Far more than the some 100,000 instructions that a server makes or saves on a busy machine, where it waits longer.
    let more = counted("5000005").saturating_sub(counted("5"));
    let expected = REQUESTS * 5_000_000;
    assert!(more.abs_diff(expected) < expected / 100, "{more} instructions more");
}

/// Wasted allocations are as many and as large as asked for.
pub fn wasted_allocations_are_counted(program: Program, ask: impl Fn(SocketAddr)) {
    let tool = ["valgrind", "--tool=dhat", "--dhat-out-file=/dev/null"];
    let counted = |waste: &str| {
        let said = said(program, &tool, &["--waste-allocations", waste], &ask);
        (number_after(&said, "Total: "), number_after(&said, "bytes in "))
    };
    let (few, many) = (counted("1"), counted("1001"));
    let (bytes, blocks) = (many.0.saturating_sub(few.0), many.1.saturating_sub(few.1));
    let expected = REQUESTS * 1000;
    assert!(blocks.abs_diff(expected) < expected / 100, "{blocks} allocations more");
    assert!(bytes.abs_diff(expected * 64) < expected * 64 / 10, "{bytes} bytes more");
}

/// Wasted system calls are exactly as many as asked for.
pub fn wasted_syscalls_are_counted(program: Program, ask: impl Fn(SocketAddr)) {
    let tool = ["strace", "-D", "-f", "-e", "trace=getppid", "-e", "signal=none"];
    let said = said(program, &tool, &["--waste-syscalls", "7"], &ask);
    let calls = said.lines().filter(|line| line.contains("getppid(")).count();
    assert_eq!(u64::try_from(calls).ok(), Some(REQUESTS * 7), "{said}");
}

/// What a tool says of a server that was asked.
fn said(program: Program, tool: &[&str], waste: &[&str], ask: impl Fn(SocketAddr)) -> String {
    let arguments = [&["--threads", "1"], waste].concat();
    let server = program.start_in(tool, &arguments);
    ask(server.address);
    server.last_words()
}

/// The number after some words, written with or without commas.
fn number_after(text: &str, words: &str) -> u64 {
    let (_, after) = text
        .split_once(words)
        .unwrap_or_else(|| panic!("no {words:?} in: {text}"));
    let digits: String = after
        .trim_start()
        .chars()
        .take_while(|letter| letter.is_ascii_digit() || *letter == ',')
        .filter(char::is_ascii_digit)
        .collect();
    digits
        .parse()
        .unwrap_or_else(|error| panic!("{error} after {words:?} in: {text}"))
}
