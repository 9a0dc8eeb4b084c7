//! The contract under `proto/` in Rust, generated when the crate is built, and what the shared data is in its words.

mod codec;
mod generated;
mod metrics;
mod refusal;
mod users;
mod weather;

pub use generated::{FILE_DESCRIPTOR_SET, metrics_v1, users_v1, weather_v1};
pub use refusal::{user_refusal, weather_refusal};
pub use users::IncompleteAnswer;
