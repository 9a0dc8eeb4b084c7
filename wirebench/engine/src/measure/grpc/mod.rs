//! gRPC and gRPC-web: frames, methods, and server reflection.

pub mod call;
pub mod frame;
mod proto_file;
