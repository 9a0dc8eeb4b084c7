//! Turns the contracts into Rust, as tonic's documentation shows it.

use std::error::Error;

const ROOTS: [&str; 2] = ["../../../../proto", "../proto"];
const CONTRACTS: [&str; 3] = [
    "wirebench/weather/v1/weather.proto",
    "wirebench/users/v1/users.proto",
    "wirebench/files/v1/files.proto",
];

fn main() -> Result<(), Box<dyn Error>> {
    for root in ROOTS {
        println!("cargo::rerun-if-changed={root}");
    }
    let described = protox::compile(CONTRACTS, ROOTS)?;
    tonic_prost_build::configure()
        .build_transport(false)
        // Files are sent and taken without a copy.
        .bytes(".wirebench.files")
        .compile_fds(described)?;
    Ok(())
}
