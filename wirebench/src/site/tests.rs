//! A whole site from a small history.
