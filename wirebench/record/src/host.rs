//! The machines of a run, with the cores and programs that were used.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The machine a run was made on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Host {
    /// As the kernel names it.
    pub cpu_model: Option<String>,
    /// CPUs this process may use.
    pub cpu_count: u32,
    /// Physical memory.
    pub memory_bytes: Option<u64>,
    /// Operating system and kernel release.
    pub kernel: String,
    /// The hosted runner's image, when there is one.
    pub image: Option<String>,
    /// The loopback interface's maximum transmission unit.
    pub loopback_mtu_bytes: Option<u32>,
    /// Twelve hex digits over the lines above: another fingerprint is another machine.
    pub fingerprint: String,
}

/// Which cores the server and the driver ran on; empty lists mean they shared all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pinning {
    /// The server's cores.
    pub server_cores: Vec<usize>,
    /// The driver's cores.
    pub driver_cores: Vec<usize>,
    /// True if the run did not hold the machine's lock, so that another measurement may have run at the same time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unlocked: bool,
}

/// A program and its version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolVersion {
    /// The program.
    pub name: String,
    /// The version that it prints.
    pub version: String,
}

/// Another machine that took part in a run. Neither its name nor its address is recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemoteHost {
    /// What it did.
    pub role: HostRole,
    /// The machine.
    pub host: Host,
    /// By how much its clock was ahead of the driver's machine's, ns; null when it does not tell the time in ns.
    pub clock_offset_ns: Option<i64>,
    /// The offset is known to within this many ns in both directions: half the time that asking took.
    pub clock_uncertainty_ns: Option<u64>,
}

/// What a machine does in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HostRole {
    /// The servers run on it.
    Server,
    /// The load generators run on it.
    Driver,
}
