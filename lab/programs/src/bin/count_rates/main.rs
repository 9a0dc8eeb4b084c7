//! Prints how well counting tells equal code from code that wastes a little: it runs `wirebench count` repeatedly on this
//! repository's own servers, unchanged and with an exact waste in every request. Prints a table for each part, then one line of
//! JSON.
//!
//! Usage: `lab/scripts/counts.sh [--trials N] [--injected N] [--loaded N] [--server NAME]`

mod load;
mod runner;
mod tally;
mod waste;

use std::path::PathBuf;

use clap::Parser;
use serde::Serialize;

use load::Load;
use runner::{Runner, SERVERS, Server};
use tally::{Equal, Injected, Within};
use waste::{Kind, PLAIN};

#[derive(Debug, Parser)]
struct Arguments {
    /// The program `wirebench`
    #[arg(long, value_name = "FILE")]
    wirebench: PathBuf,
    /// Comparisons of equal code, of each server
    #[arg(long, value_name = "N", default_value_t = 20)]
    trials: usize,
    /// Comparisons with each kind of waste, of each server
    #[arg(long, value_name = "N", default_value_t = 5)]
    injected: usize,
    /// Comparisons of equal code while every core is busy with something else, of each server
    #[arg(long, value_name = "N", default_value_t = 3)]
    loaded: usize,
    /// Only this server; without it, each one
    #[arg(long, value_parser = SERVERS.map(|server| server.name))]
    server: Option<String>,
}

/// The results of one server.
#[derive(Debug, Serialize)]
struct ServerResults {
    server: &'static str,
    equal: Equal,
    injected: Vec<Injected>,
    under_load: Equal,
    within: Vec<Within>,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let runner = Runner::new(arguments.wirebench.clone())?;
    let mut results = Vec::new();
    let wanted = |server: &Server| arguments.server.as_ref().is_none_or(|name| name == server.name);
    for server in SERVERS.into_iter().filter(wanted) {
        results.push(try_server(&runner, server, &arguments)?);
    }
    println!("{}", serde_json::to_string(&results)?);
    Ok(())
}

fn try_server(runner: &Runner, server: Server, arguments: &Arguments) -> anyhow::Result<ServerResults> {
    let mut equal = Equal::default();
    for _ in 0..arguments.trials {
        equal.add(runner.compare(server, PLAIN, PLAIN));
    }
    println!("\n== {}, equal code", server.name);
    equal.print();

    println!("\n== {}, a little waste in every request of the candidate", server.name);
    let mut injected = Vec::new();
    for kind in Kind::all(runner, server)? {
        let (baseline, candidate) = kind.sides();
        let mut tally = Injected::of(&kind);
        for _ in 0..arguments.injected {
            tally.add(&kind, runner.compare(server, &baseline, &candidate));
        }
        tally.print();
        injected.push(tally);
    }

    let mut under_load = Equal::default();
    let load = Load::on_every_core();
    for _ in 0..arguments.loaded {
        under_load.add(runner.compare(server, PLAIN, PLAIN));
    }
    load.stop();
    println!("\n== {}, equal code while every core is busy", server.name);
    under_load.print();
    let within = under_load.within(&equal);
    within.iter().for_each(Within::print);
    Ok(ServerResults {
        server: server.name,
        equal,
        injected,
        under_load,
        within,
    })
}
