//! The flag of the machine's lock.

/// Whether a measurement keeps others away.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct LockArgs {
    /// Measure although another measurement runs on this machine, instead of waiting for its end; the record says so.
    #[arg(long)]
    pub(crate) no_lock: bool,
}
