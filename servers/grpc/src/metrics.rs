//! The metrics service: one document behind the gRPC contract.

use contract::metrics_v1::metrics_service_server::MetricsService;
use contract::metrics_v1::{GetMetricsDocumentRequest, GetMetricsDocumentResponse};
use tonic::{Request, Response, Status};

/// Answers with the built-in document.
#[derive(Debug)]
pub(crate) struct BuiltInDocument;

#[tonic::async_trait]
impl MetricsService for BuiltInDocument {
    async fn get_metrics_document(
        &self,
        _request: Request<GetMetricsDocumentRequest>,
    ) -> Result<Response<GetMetricsDocumentResponse>, Status> {
        Ok(Response::new(domain::metrics_document().into()))
    }
}
