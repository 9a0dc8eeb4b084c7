//! What wirebench shows: tables and comments, the dashboard, pictures, and documents made from a run. Computes nothing that
//! `wirebench_judge` could.

pub mod report;
pub mod site;
