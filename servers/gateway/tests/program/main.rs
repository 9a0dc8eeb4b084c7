//! The gateway's program from outside: real tiers, real sockets, and neighbours that misbehave.
#![allow(
    clippy::unwrap_used,
    reason = "a test may stop at the first surprise, its helpers too"
)]

mod asking;
mod bad;
mod chain;
mod faults;
mod neighbour;
mod secure;

use std::net::SocketAddr;

use server_runtime::testing::{Program, Running};

const PROGRAM: Program = Program(env!("CARGO_BIN_EXE_gateway"));
/// What tiers may say to each other.
const INNER: [&str; 2] = ["http", "grpc"];

/// A tier whose next one is at `upstream`, with what it gets for an answer in ms.
fn tier_before(arguments: &[&str], inner: &str, upstream: SocketAddr, deadline_ms: &str) -> Running {
    let upstream = format!("{inner}://{upstream}");
    let own = ["--upstream", &upstream, "--deadline-ms", deadline_ms];
    PROGRAM.start(&[arguments, &own].concat())
}

/// A service that answers gRPC and gives the next tier two seconds.
fn service_before(inner: &str, upstream: SocketAddr) -> Running {
    tier_before(&["--role", "service", "--serve", "grpc"], inner, upstream, "2000")
}

#[test]
fn wrong_arguments_are_refused() {
    for (arguments, code, named) in [
        (&["--role", "controller"][..], 2, "--upstream"),
        (
            &["--role", "repository", "--upstream", "http://127.0.0.1:1"],
            2,
            "--upstream",
        ),
        (&["--role", "gateway", "--upstream", "127.0.0.1:1"], 2, "--upstream"),
        (&["--upstream", "http://127.0.0.1:1"], 2, "--role"),
        (&["--role", "repository", "--deadline-ms", "0"], 2, "--deadline-ms"),
        (
            &[
                "--role",
                "gateway",
                "--upstream",
                "grpcs://127.0.0.1:1",
                "--ca",
                "/nowhere.pem",
            ],
            1,
            "/nowhere.pem",
        ),
    ] {
        let refusal = PROGRAM.refuse(arguments);
        assert_eq!(refusal.code, code, "{}", refusal.message);
        assert!(refusal.message.contains(named), "{}", refusal.message);
    }
}

#[test]
fn a_repository_leaves_nothing_behind() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("gateway-store");
    std::fs::create_dir_all(&folder).unwrap();
    let place = format!("TMPDIR={}", folder.display());
    let server = PROGRAM.start_in(&["env", &place], &["--role", "repository"]);
    let (status, body) = asking::get(server.address, "/api/users/1000");
    assert_eq!(
        (status, body),
        (200, serde_json::to_string(domain::user(1000).unwrap()).unwrap())
    );
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
}
