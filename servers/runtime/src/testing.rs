//! Tests of a server's program: starting it, reading its ready line, stopping it, and the checks that every server must pass.

mod contract;
mod metrics;
mod pair;
mod program;
mod secure;
mod suite;
mod waste;

pub use contract::{
    help_explains_every_argument, port_zero_takes_a_free_port, taken_port_is_refused, threads_are_as_asked,
    wrong_arguments_are_refused,
};
pub use metrics::metrics_are_shown;
pub use pair::Pair;
pub use program::{Program, RUNTIMES, Refusal, Running};
pub use secure::{
    client_config, handshake, peak_memory, slow_heads_are_cut_off, start as start_secure, tls_is_verified,
    wrong_certificates_are_refused,
};
pub use waste::{
    REQUESTS, a_burn_slows_every_request_down, wasted_allocations_are_counted, wasted_instructions_are_counted,
    wasted_syscalls_are_counted,
};
