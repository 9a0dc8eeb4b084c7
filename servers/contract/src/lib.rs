//! The contract under `proto/` in Rust, generated when the crate is built, and what the shared data is in its words.

mod codec;
mod generated;
mod metrics;
mod reflection;
mod refusal;
mod users;
mod weather;

pub use generated::{metrics_v1, users_v1, weather_v1};
pub use reflection::reflection;
pub use refusal::{user_refusal, weather_refusal};
pub use users::IncompleteAnswer;
