//! Ctrl-C, SIGTERM and SIGHUP as a flag that every waiting loop checks.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// The first signal that this process received; 0 before that.
static RECEIVED: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);

/// Whether the user requested a stop.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Watches SIGINT, SIGTERM and SIGHUP from now on. If SIGHUP is ignored, as under nohup, it stays ignored.
    ///
    /// # Errors
    /// When the operating system refuses the handler.
    pub fn watch() -> std::io::Result<Self> {
        let flag = Self::default();
        let hangs_up = (!ignores_hang_up()).then_some(SIGHUP);
        for signal in [SIGINT, SIGTERM].into_iter().chain(hangs_up) {
            signal_hook::flag::register(signal, Arc::clone(&flag.0))?;
            let number = usize::try_from(signal).unwrap_or_default();
            signal_hook::flag::register_usize(signal, Arc::clone(&RECEIVED), number)?;
        }
        Ok(flag)
    }

    /// True if a stop was requested.
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The signal that requested the stop; `None` if there was none.
pub fn received() -> Option<u8> {
    u8::try_from(RECEIVED.load(Ordering::Relaxed))
        .ok()
        .filter(|signal| *signal > 0)
}

fn ignores_hang_up() -> bool {
    let status = procfs::process::Process::myself().and_then(|own| own.status());
    status.is_ok_and(|status| status.sigign & (1 << (SIGHUP - 1)) != 0)
}
