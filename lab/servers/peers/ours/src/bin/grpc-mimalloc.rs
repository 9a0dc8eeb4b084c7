//! Our gRPC server with mimalloc in the place of the system's allocator.

use std::process::ExitCode;

use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    server_runtime::run("grpc-mimalloc", "our gRPC server with mimalloc", grpc_server::serve)
}
