//! The table that `strace -c` writes of a server.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wirebench::count::profile::strace;
use wirebench_fuzz::in_file;

fuzz_target!(|bytes: &[u8]| {
    in_file("strace", bytes, |file| {
        let _ = strace::read(file);
    });
});
