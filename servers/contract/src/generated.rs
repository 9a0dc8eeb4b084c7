//! What the build makes of the files under `proto/`.

// Generated code keeps its own style.
#![allow(clippy::all, clippy::pedantic, missing_docs, unused_qualifications, unreachable_pub)]

/// `proto/wirebench/weather/v1/weather.proto`.
pub mod weather_v1 {
    tonic::include_proto!("wirebench.weather.v1");
}

/// `proto/wirebench/users/v1/users.proto`.
pub mod users_v1 {
    tonic::include_proto!("wirebench.users.v1");
}

/// `proto/wirebench/metrics/v1/metrics.proto`.
pub mod metrics_v1 {
    tonic::include_proto!("wirebench.metrics.v1");
}

/// The contract's encoded description, for server reflection.
pub(crate) const FILE_DESCRIPTOR_SET: &[u8] = tonic::include_file_descriptor_set!("contract_descriptor");
