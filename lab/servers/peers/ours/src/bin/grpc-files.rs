//! tonic on our runtime: one large message each way.

use std::io;
use std::process::ExitCode;

use axum::body::Bytes;
use ours::files::files_service_server::{FilesService, FilesServiceServer};
use ours::files::{DownloadRequest, DownloadResponse, UploadRequest, UploadResponse};
use server_runtime::rpc::{self, Clients};
use server_runtime::{Incoming, NoMore, Serving};
use tonic::{Request, Response, Status};

struct Files(Bytes);

#[tonic::async_trait]
impl FilesService for Files {
    async fn download(&self, _: Request<DownloadRequest>) -> Result<Response<DownloadResponse>, Status> {
        let content = self.0.clone();
        Ok(Response::new(DownloadResponse { content }))
    }

    async fn upload(&self, request: Request<UploadRequest>) -> Result<Response<UploadResponse>, Status> {
        let length = u32::try_from(request.get_ref().content.len())
            .map_err(|_| Status::invalid_argument("longer than 4 GiB"))?;
        Ok(Response::new(UploadResponse { length }))
    }
}

fn main() -> ExitCode {
    server_runtime::run("grpc-files", "tonic on our runtime, one large message each way", serve)
}

async fn serve(incoming: Incoming, serving: Serving, _own: NoMore) -> io::Result<()> {
    let services = FilesServiceServer::new(Files(ours::file()));
    rpc::serve_at_once(incoming, services, Clients::Grpc, serving).await
}
