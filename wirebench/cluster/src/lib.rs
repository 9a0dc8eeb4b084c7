//! Measures servers on a Kubernetes cluster: applies an overlay, loads it from pods, and writes the same record as the engine.
//! Never judges, never formats results.

mod deploy;
mod gather;
mod kubectl;
mod load;
mod meter;
mod names;
mod overlay;
mod owner;
mod run_spec;
mod session;
mod slot;

pub use load::fits;
pub use overlay::Overlay;
pub use run_spec::{LoadPods, RunSpec, Side};
pub use session::measure;
