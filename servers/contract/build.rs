//! Turns the contract under `proto/` into Rust, and keeps its description for server reflection.

use std::env;
use std::error::Error;
use std::fs;
use std::path::Path;

use prost::Message;

const PROTO_ROOT: &str = "../../proto";
const CONTRACT: [&str; 3] = [
    "wirebench/weather/v1/weather.proto",
    "wirebench/users/v1/users.proto",
    "wirebench/metrics/v1/metrics.proto",
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={PROTO_ROOT}");
    let described = protox::compile(CONTRACT, [PROTO_ROOT])?;
    let out_dir = env::var_os("OUT_DIR").ok_or("OUT_DIR is set by cargo")?;
    // Comments are for readers of the files; every start of a server would read them again.
    let mut bare = described.clone();
    for file in &mut bare.file {
        file.source_code_info = None;
    }
    fs::write(
        Path::new(&out_dir).join("contract_descriptor.bin"),
        bare.encode_to_vec(),
    )?;
    tonic_prost_build::configure()
        .build_transport(false)
        .codec_path("crate::codec::Fitting")
        .compile_fds(described)?;
    Ok(())
}
