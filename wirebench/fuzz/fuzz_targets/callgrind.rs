//! What callgrind writes of a server.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wirebench::count::profile::{Tree, callgrind};
use wirebench_fuzz::in_file;

fuzz_target!(|bytes: &[u8]| {
    // Programs that a file names are opened where they lie: an input must not name what never ends.
    let devices: [&[u8]; 3] = [b"/dev", b"/proc", b"/sys"];
    if devices
        .iter()
        .any(|name| bytes.windows(name.len()).any(|part| part == *name))
    {
        return;
    }
    in_file("callgrind.out", bytes, |file| {
        if let Ok(read) = callgrind::read(file, &Tree::of(None)) {
            let mut twice = read.clone();
            twice.absorb(read);
        }
    });
});
