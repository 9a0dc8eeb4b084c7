//! A history in S3-compatible object storage: one object for each file; its key ends with the file's path below the history's
//! folder. Runs are written with `If-None-Match: *`, summaries of months with `If-Match`, so that concurrent writers lose
//! nothing.

mod address;
mod bucket;
mod error;
mod fetch;
mod index;
mod publish;

pub use address::{Address, NotAnAddress, SCHEME};
pub use bucket::Bucket;
pub use error::StoreError;
pub use fetch::{Fetched, Wanted};
pub use publish::Published;
