//! Examines a repository that does not use wirebench yet, and writes its declarations. Guessed lines are marked "change
//! this". Checks whether a run can work.

pub mod checks;
mod compose;
mod container;
mod declared;
mod files;
mod guess;
mod known;
mod needs;
mod port_settings;
mod probe;
mod program;
mod programs;
mod proto;
mod recipe;
mod recipes;
pub mod repository;
mod routes;
mod rust;
pub mod setup_files;

pub use guess::CHANGE_THIS;
pub use probe::{GivenRequest, ProbeContext};
pub use programs::{Found, Programs};
