//! The flag of the machine's lock.

/// Whether a measurement keeps others away.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct LockArgs {
    /// Do not wait for the end of another measurement on this machine; the record notes it.
    #[arg(long)]
    pub(crate) no_lock: bool,
}
