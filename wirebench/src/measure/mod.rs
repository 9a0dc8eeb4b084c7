//! Measuring: starts targets and drivers, watches them, and writes down what was seen. Judges nothing.

pub mod build;
pub mod connections;
pub mod cores;
pub mod drive;
pub mod grpc;
pub mod held;
pub mod host;
pub mod instance;
pub mod interrupt;
pub mod port;
pub mod probe;
pub mod process;
pub mod processes;
pub mod question;
pub mod ready;
pub mod side;
pub mod slot;
pub mod startup;
pub mod stream;
pub mod target;
pub mod tls;
pub mod tools;
pub mod traffic;
pub mod usage;
pub mod values;
pub mod web;
