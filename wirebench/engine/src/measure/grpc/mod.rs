//! gRPC and gRPC-web: frames, methods, and server reflection.

pub mod call;
pub mod frame;
pub mod reflection;
pub(super) mod web;
