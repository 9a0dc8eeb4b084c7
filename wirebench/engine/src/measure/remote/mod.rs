//! Servers on another host: reached by the system's ssh, which needs nothing there but a shell.

mod address;
mod born;
mod clock;
mod connection;
mod facts;
mod host;
mod load;
pub mod ping;
pub mod process;
mod program;
mod shell;

pub use address::{Address, NoAddress};
pub(super) use born::born;
pub use connection::HostError;
pub use host::{Host, fits};
