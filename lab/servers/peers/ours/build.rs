//! Turns the files contract into Rust.

use std::error::Error;

const ROOT: &str = "../proto";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={ROOT}");
    let described = protox::compile(["wirebench/files/v1/files.proto"], [ROOT])?;
    tonic_prost_build::configure()
        .build_transport(false)
        .build_client(false)
        // Files are sent and taken without a copy.
        .bytes(".wirebench.files")
        .codec_path("crate::codec::Fitting")
        .compile_fds(described)?;
    Ok(())
}
