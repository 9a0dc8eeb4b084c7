//! Our HTTP server with mimalloc in the place of the system's allocator.

use std::process::ExitCode;

use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    server_runtime::run("http-mimalloc", "our HTTP server with mimalloc", http_server::serve)
}
