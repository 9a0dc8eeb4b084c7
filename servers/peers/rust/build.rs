//! Turns the contract into Rust, as tonic's documentation shows it.

use std::error::Error;

const PROTO_ROOT: &str = "../../../proto";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={PROTO_ROOT}");
    let described = protox::compile(["wirebench/weather/v1/weather.proto"], [PROTO_ROOT])?;
    tonic_prost_build::configure()
        .build_transport(false)
        .compile_fds(described)?;
    Ok(())
}
