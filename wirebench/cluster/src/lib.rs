//! Measures servers on a Kubernetes cluster: applies an overlay, loads it from pods, and writes the same record as the engine.
//! Never judges, never formats results.

mod api;
mod clock;
mod deploy;
mod gather;
mod inputs;
mod load;
mod meter;
mod names;
mod overlay;
mod owner;
mod probe;
mod record;
mod run;
mod run_spec;
mod session;
mod share;
mod slot;
mod stages;
mod testrun;

pub use overlay::{Overlay, OverlayError};
pub use run::measure;
pub use run_spec::{LoadPods, RunSpec, Side};
pub use share::fits;
