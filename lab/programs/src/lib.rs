//! The laboratory's programs: changes whose right verdict is known, and comparisons that others published.

pub mod claims;
pub mod truth;
