//! Ctrl-C and SIGTERM as a flag that every waiting loop looks at.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};

/// Whether the user asked to stop.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Watches SIGINT and SIGTERM from now on.
    ///
    /// # Errors
    /// When the operating system refuses the handler.
    pub fn watch() -> std::io::Result<Self> {
        let flag = Self::default();
        for signal in [SIGINT, SIGTERM] {
            signal_hook::flag::register(signal, Arc::clone(&flag.0))?;
        }
        Ok(flag)
    }

    /// Whether it was asked.
    #[must_use]
    pub fn asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
