//! What a tier's clients see: the same questions in either protocol.

pub(crate) mod grpc;
pub(crate) mod http;
