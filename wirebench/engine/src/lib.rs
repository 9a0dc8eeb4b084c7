//! Measures servers: builds and starts them, loads them, checks and counts what happened, and writes the record as it goes.
//! Never judges, never formats results.

pub mod count;
pub mod git;
pub mod install;
pub mod measure;
pub mod normalise;
pub mod session;

#[cfg(not(target_os = "linux"))]
compile_error!(
    "wirebench measures through Linux's /proc: build and run it on Linux, such as in a virtual machine or a container"
);
