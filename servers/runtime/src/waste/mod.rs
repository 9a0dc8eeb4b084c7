//! Deliberate waste in every request, so that it can be tested that waste is found: time, or an exact number of things
//! that are counted.
//!
//! Each kind is done by a function of its own, which a profile names: `server_runtime::waste::…`.

mod allocations;
mod instructions;
mod layer;
mod syscalls;
mod time;

use std::time::Duration;

use clap::{Args, value_parser};

/// The waste of a request. A server without waste adds no code to a request.
#[derive(Args, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[command(next_help_heading = "To test that waste is found, in every request")]
pub struct Waste {
    /// Burns CPU: nanoseconds
    #[arg(long, value_name = "N", default_value_t = 0)]
    burn_ns: u64,

    /// Executes N instructions, rounded down to a multiple of 5 (on x86-64; elsewhere about N)
    #[arg(long = "waste-instructions", value_name = "N", default_value_t = 0)]
    instructions: u64,

    /// Allocates 64 bytes N times, and frees them at once
    #[arg(long = "waste-allocations", value_name = "N", default_value_t = 0)]
    allocations: u32,

    /// Makes the system call getppid N times
    #[arg(long = "waste-syscalls", value_name = "N", default_value_t = 0)]
    syscalls: u32,

    /// Answers with a header (in gRPC: metadata) x-waste whose value is N bytes long; 0 is no header
    #[arg(long = "waste-header-bytes", value_name = "N", default_value_t = 0, value_parser = value_parser!(u16).range(..=8192))]
    header_bytes: u16,
}

impl Waste {
    /// `None` if there is nothing to waste.
    pub(crate) fn or_none(self) -> Option<Self> {
        (self != Self::default()).then_some(self)
    }

    /// Spends the waste of one request before the response: everything except the header.
    fn spend(self) {
        if self.burn_ns > 0 {
            time::spin(Duration::from_nanos(self.burn_ns));
        }
        if self.instructions > 0 {
            instructions::count_down(self.instructions);
        }
        if self.allocations > 0 {
            allocations::allocate_and_free(self.allocations);
        }
        if self.syscalls > 0 {
            syscalls::ask_for_parent(self.syscalls);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Waste;

    #[test]
    fn nothing_to_waste_is_no_waste() {
        assert_eq!(Waste::default().or_none(), None);
        let waste = Waste {
            syscalls: 1,
            ..Waste::default()
        };
        assert_eq!(waste.or_none(), Some(waste));
    }
}
