//! Known changes with known right answers, run end to end: rows of `truth/`, a scratch clone in which each one is compared, and
//! what the verdict is held against.

pub mod document;
mod judge;
mod project;
mod row;
mod work;

pub use judge::judge;
pub use row::{Case, Row, read};
pub use work::{Table, Work, has};
