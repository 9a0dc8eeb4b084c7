//! Which function of the C library makes which system call.

/// Wrappers that are not called as their system call is.
const NAMES: &[(&str, &str)] = &[
    ("send", "sendto"),
    ("recv", "recvfrom"),
    ("nanosleep", "clock_nanosleep"),
    ("open", "openat"),
    ("stat", "newfstatat"),
    ("fstat", "newfstatat"),
    ("lstat", "newfstatat"),
    ("fstatat", "newfstatat"),
    ("waitpid", "wait4"),
    ("sigaction", "rt_sigaction"),
    ("sigprocmask", "rt_sigprocmask"),
    ("pread", "pread64"),
    ("pwrite", "pwrite64"),
    ("lll_lock_wait", "futex"),
    ("lll_lock_wake", "futex"),
    ("futex_abstimed_wait_common", "futex"),
];

/// The function that makes the call with a given number, by its [`bare`] name.
pub(super) const BY_NUMBER: &str = "syscall";
/// Rust's locks make this call by number, also where the C library's own locks make it.
pub(super) const LOCKS: &str = "futex";

/// The name of a function of the C library without version-specific prefixes and suffixes.
pub(super) fn bare(function: &str) -> &str {
    let name = function.trim_start_matches("__");
    let name = ["GI_", "libc_"]
        .iter()
        .find_map(|start| name.strip_prefix(start))
        .unwrap_or(name);
    let name = name.trim_start_matches('_');
    let name = ["_nocancel", "_internal", "_time64"]
        .iter()
        .find_map(|end| name.strip_suffix(end))
        .unwrap_or(name);
    name.strip_suffix("64")
        .filter(|name| !matches!(*name, "pread" | "pwrite"))
        .unwrap_or(name)
}

/// Whether a function, by its [`bare`] name, makes a system call: `nanosleep` makes `clock_nanosleep`.
pub(super) fn makes(bare: &str, call: &str) -> bool {
    bare == call || NAMES.contains(&(bare, call))
}

#[cfg(test)]
mod tests {
    use super::{bare, makes};

    #[test]
    fn wrappers_are_known_by_their_system_call() {
        for (function, call) in [
            ("write", "write"),
            ("__libc_write", "write"),
            ("__GI___writev", "writev"),
            ("epoll_wait", "epoll_wait"),
            ("__send", "sendto"),
            ("clock_nanosleep", "clock_nanosleep"),
            ("__GI___nanosleep", "clock_nanosleep"),
            ("__open64_nocancel", "openat"),
            ("sched_yield", "sched_yield"),
            ("fsync", "fsync"),
            ("pwrite64", "pwrite64"),
        ] {
            assert!(makes(bare(function), call), "{function}");
        }
        assert!(!makes(bare("shop::write"), "write") && !makes(bare("write"), "writev"));
    }
}
