//! What every server's program must do, whatever it answers; each check panics with what is wrong.

use std::fs;
use std::net::TcpListener;

use super::{Program, RUNTIMES};

/// A port that another program, or another server of the same kind, listens on is refused with exit code 1 and a message
/// that names it.
pub fn taken_port_is_refused(program: Program) {
    let other = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let taken = other.local_addr().expect("a bound socket").to_string();
    for runtime in RUNTIMES {
        expect_refusal(program, &taken, runtime);
        for second in RUNTIMES {
            let first = program.start(&["--threads", "2", "--runtime", runtime]);
            expect_refusal(program, &first.address.to_string(), second);
        }
    }
}

fn expect_refusal(program: Program, address: &str, runtime: &str) {
    for threads in ["1", "2"] {
        let refusal = program.refuse(&["--listen", address, "--threads", threads, "--runtime", runtime]);
        assert_eq!(refusal.code, 1, "{}", refusal.message);
        let expected = format!("cannot listen on {address}: the address is already in use");
        assert!(refusal.message.contains(&expected), "{}", refusal.message);
        assert_eq!(refusal.message.lines().count(), 1, "{}", refusal.message);
    }
}

/// Port 0 gives each server a port of its own, and the ready line says which.
pub fn port_zero_takes_a_free_port(program: Program) {
    for runtime in RUNTIMES {
        let start = || program.start(&["--listen", "127.0.0.1:0", "--runtime", runtime]);
        let (first, second) = (start(), start());
        assert_ne!(first.address.port(), 0);
        assert_ne!(first.address, second.address);
    }
}

/// Wrong arguments end with exit code 2 and a message that names the argument.
pub fn wrong_arguments_are_refused(program: Program) {
    for (arguments, named) in [
        (["--listen", "localhost"], "--listen"),
        (["--listen", "127.0.0.1:99999"], "--listen"),
        (["--threads", "0"], "--threads"),
        (["--threads", "many"], "--threads"),
        (["--runtime", "fast"], "--runtime"),
        (["--burn-ns", "-1"], "-1"),
        (["--waste-instructions", "few"], "--waste-instructions"),
        (["--waste-header-bytes", "8193"], "--waste-header-bytes"),
        (["--head-timeout-ms", "0"], "--head-timeout-ms"),
        (["--port", "80"], "--port"),
    ] {
        let refusal = program.refuse(&arguments);
        assert_eq!(refusal.code, 2, "{}", refusal.message);
        assert!(refusal.message.contains(named), "{}", refusal.message);
    }
}

/// `--help` explains every argument and the ready line.
pub fn help_explains_every_argument(program: Program) {
    let help = program.output(&["--help"]);
    for word in [
        "--listen <ADDRESS>",
        "--threads <N>",
        "--runtime <RUNTIME>",
        "--metrics-listen <ADDRESS>",
        "--head-timeout-ms <N>",
        "--tls-cert <FILE>",
        "--tls-key <FILE>",
        "--burn-ns <N>",
        "--waste-instructions <N>",
        "--waste-allocations <N>",
        "--waste-syscalls <N>",
        "--waste-header-bytes <N>",
        "multi",
        "per-core",
        "ready 127.0.0.1:",
    ] {
        assert!(help.contains(word), "no {word:?} in:\n{help}");
    }
}

/// A per-core server has exactly the threads asked for; a multi-thread one has one more, which waits.
pub fn threads_are_as_asked(program: Program) {
    for (runtime, extra) in [("per-core", 0), ("multi", 1)] {
        for threads in [1, 2, 3] {
            let server = program.start(&["--threads", &threads.to_string(), "--runtime", runtime]);
            let tasks = fs::read_dir(format!("/proc/{}/task", server.id())).expect("the server is running");
            assert_eq!(tasks.count(), threads + extra, "{runtime}, --threads {threads}");
        }
    }
}
