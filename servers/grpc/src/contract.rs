//! The contract `proto/wirebench/weather/v1/weather.proto` in Rust, generated when the crate is built.

// Generated code keeps its own style.
#![allow(clippy::all, clippy::pedantic, missing_docs, unused_qualifications)]

tonic::include_proto!("wirebench.weather.v1");

/// The contract's encoded description, for server reflection.
pub const FILE_DESCRIPTOR_SET: &[u8] = tonic::include_file_descriptor_set!("weather_descriptor");
