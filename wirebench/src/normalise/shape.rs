//! The one shape every driver's output is brought into, and the call of jq that does it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use crate::declare::args::{MissingValue, Value, Values, expand};
use crate::declare::driver::Driver;
use crate::normalise::Jq;

/// What `normalise.jq` writes: see docs/FORMAT.md.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// Wall time of the load.
    pub elapsed_ns: Option<u64>,
    /// Latency, ns, of every answered request by status.
    pub answers: BTreeMap<String, Vec<u64>>,
    /// Requests that got no answer, by reason.
    pub errors: BTreeMap<String, u64>,
    /// Requests that the driver should have started and did not (open loop), when it says so.
    #[serde(default)]
    pub dropped: Option<u64>,
    /// What the driver says it spoke, when it says so: `http`, `h2c`, `grpc`.
    #[serde(default)]
    pub protocol: Option<String>,
}

/// Why raw output could not be brought into the shape.
#[derive(Debug, thiserror::Error)]
pub enum NormaliseError {
    /// The filter's arguments.
    #[error("drivers/{driver}/driver.toml: normalise.args: {source}")]
    Arguments {
        /// The driver.
        driver: String,
        /// What is missing.
        source: MissingValue,
    },
    /// jq cannot be started.
    #[error("{}: cannot be started: {source}; reinstall jq", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// The operating system's reason.
        source: std::io::Error,
    },
    /// The filter refused the output.
    #[error("drivers/{driver}/normalise.jq: {message}")]
    Filter {
        /// The driver.
        driver: String,
        /// jq's message.
        message: String,
    },
    /// The filter wrote something else.
    #[error(
        "drivers/{driver}/normalise.jq wrote something else than the common shape: {source}; docs/FORMAT.md describes it"
    )]
    Shape {
        /// The driver.
        driver: String,
        /// Where and what.
        source: serde_json::Error,
    },
}

/// Brings one driver run's output into the common shape.
///
/// # Errors
/// When jq cannot be started, the filter refuses the output, or writes another shape.
pub fn read(jq: &Jq, driver: &Driver, stdout: &Path, raw: &Path) -> Result<Shape, NormaliseError> {
    let name = || driver.name.clone();
    let mut values = Values::from([("stdout", Value::One(stdout.to_string_lossy().into_owned()))]);
    if raw.exists() {
        values.insert("raw", Value::One(raw.to_string_lossy().into_owned()));
    }
    let args =
        expand(&driver.normalise, &values).map_err(|source| NormaliseError::Arguments { driver: name(), source })?;
    let output = Command::new(&jq.program)
        .args(["--compact-output", "-L"])
        .arg(&driver.library)
        .arg("--from-file")
        .arg(driver.folder.join("normalise.jq"))
        .args(args)
        .output()
        .map_err(|source| NormaliseError::Start {
            program: jq.program.clone(),
            source,
        })?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr).trim().replace('\n', " ");
        return Err(NormaliseError::Filter {
            driver: name(),
            message,
        });
    }
    serde_json::from_slice(&output.stdout).map_err(|source| NormaliseError::Shape { driver: name(), source })
}
