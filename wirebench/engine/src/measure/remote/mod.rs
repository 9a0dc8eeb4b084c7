//! Servers and load generators on another host, which is reached by the system's ssh and needs only a shell.

mod connection;
mod host;
pub mod ping;
pub mod process;
mod shell;
pub mod usage;

pub use connection::Address;
pub use host::{Host, fits};
