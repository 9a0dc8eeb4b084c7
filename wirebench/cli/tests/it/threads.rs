//! CPU of a server that starts a thread for each connection, held against what the kernel told the server itself.

use crate::bench::{Bench, fixture, series};
use crate::built;

#[test]
fn the_cpu_of_threads_that_ended_is_that_of_the_kernels_own_account() {
    // `ab` closes its connection after each answer: a thread lives for one request.
    let bench = Bench::new()
        .file(
            "wirebench.toml",
            "builtin_drivers = [\"ab\"]\ndefault_profile = \"test\"\n[profiles.test]\nabout = \"test\"\nrounds = 3\n[count]\nenabled = false\n",
        )
        .scenario("ask", "connections = 4, requests = 2000")
;
    let account = bench.path("account.txt");
    let server = format!(
        "about = \"test\"\nprotocols = [\"http\"]\ncommand = [{:?}, {:?}]\nargs = [\"{{port}}\", {:?}]\n\
         ready = {{ http = \"/health\" }}\n[operations.ask]\nrequest = {{ path = \"/ask\" }}\n\
         expect = {{ status = 200, body = '{{\"answer\":\"forty-two\"}}' }}\n",
        built::python(),
        fixture("threads.py"),
        account.display().to_string(),
    );
    let bench = bench.file("servers/py/server.toml", &server);
    let ended = bench.run(&["run"]);
    assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);

    let told: Vec<f64> = (std::fs::read_to_string(account).unwrap().lines())
        .map(|line| line.parse().unwrap())
        .filter(|ns| *ns > 0.0)
        .collect();
    let record = bench.record();
    let rounds = series(&record, "ask@py@ab")["rounds"].as_array().unwrap();
    let recorded = rounds.iter().map(|round| {
        let cpu = &round["server_cpu_ns"];
        cpu["user"].as_f64().unwrap() + cpu["system"].as_f64().unwrap()
    });
    assert_eq!((rounds.len(), told.len()), (3, 3), "{told:?}");
    for (told, recorded) in told.iter().zip(recorded) {
        let apart = recorded / told - 1.0;
        assert!(
            apart.abs() < 0.03,
            "{recorded} ns recorded, {told} ns told: {apart:+.4}"
        );
    }
}
