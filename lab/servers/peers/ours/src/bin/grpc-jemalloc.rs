//! Our gRPC server with jemalloc in the place of the system's allocator.

use std::process::ExitCode;

use tikv_jemallocator::Jemalloc;

#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

fn main() -> ExitCode {
    server_runtime::run("grpc-jemalloc", "our gRPC server with jemalloc", grpc_server::serve)
}
