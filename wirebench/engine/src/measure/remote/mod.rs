//! Servers and load generators on another host, which is reached by the system's ssh and needs only a shell.

mod address;
mod clock;
mod connection;
mod facts;
mod host;
mod load;
pub mod ping;
pub mod process;
mod program;
mod shell;
mod stat;
pub mod usage;

pub use address::{Address, NoAddress};
pub use connection::HostError;
pub use host::{Host, fits};
