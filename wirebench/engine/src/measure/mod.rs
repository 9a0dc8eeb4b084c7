//! Measuring: starts targets and drivers, watches them, and records the values. Judges nothing.

pub mod build;
pub mod captured;
pub mod clock;
pub mod cores;
mod database;
pub mod dependencies;
pub mod digest;
pub mod drive;
pub mod endpoint;
pub mod error;
pub mod grpc;
pub mod host;
mod http_client;
pub mod interrupt;
mod kill_on_exit;
#[cfg_attr(not(target_os = "linux"), path = "listening_elsewhere.rs")]
pub mod listening;
pub mod load_monitor;
pub mod lock;
pub mod port;
pub mod probe;
pub mod process;
pub mod process_group;
pub mod python;
pub mod ready;
pub mod remote;
pub mod request;
pub mod same_files;
pub mod same_program;
pub mod seed;
pub mod side;
pub mod slot;
#[cfg_attr(not(target_os = "linux"), path = "sock_diag_elsewhere.rs")]
mod sock_diag;
pub mod staging;
pub mod startup;
pub mod stream;
pub mod target;
pub mod temporary_folder;
pub mod thread_cpu;
pub mod tls;
pub mod tools;
#[cfg_attr(not(target_os = "linux"), path = "usage_elsewhere.rs")]
pub mod usage;
pub mod usage_reader;
pub mod values;
pub mod wire;
pub mod work_folder;
