//! h2 without hyper or tonic: one large gRPC message each way.

use std::io;

use bytes::{Bytes, BytesMut};
use peers::files::{DownloadResponse, UploadRequest, UploadResponse};
use prost::Message;

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let file = peers::file();
    peers::grpc::serve(move |path, message| respond(path, message, &file)).await
}

fn respond(path: &str, message: Bytes, file: &Bytes) -> Option<Bytes> {
    let mut out = BytesMut::new();
    if path.ends_with("/Upload") {
        let length = UploadRequest::decode(message).ok()?.content.len();
        let length = u32::try_from(length).ok()?;
        peers::frame(&mut out, &UploadResponse { length });
    } else {
        let content = file.clone();
        peers::frame(&mut out, &DownloadResponse { content });
    }
    Some(out.freeze())
}
