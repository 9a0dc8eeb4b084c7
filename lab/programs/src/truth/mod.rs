//! The truth table: changes whose right verdict is known (`truth/`), compared end to end in a scratch clone, with a
//! check of each verdict.

pub mod command;
pub mod document;
mod judge;
mod project;
pub mod record;
mod row;
mod rows;
mod table;
mod work;

pub use judge::judge;
pub use row::{Case, Row, read};
pub use work::{Settings, Work, has};
