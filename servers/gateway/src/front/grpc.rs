//! Answering over gRPC, with the contract of the gRPC server, its health service and server reflection.

use std::borrow::Cow;
use std::pin::Pin;
use std::sync::Arc;

use contract::metrics_v1::metrics_service_server::{MetricsService, MetricsServiceServer};
use contract::metrics_v1::{GetMetricsDocumentRequest, GetMetricsDocumentResponse};
use contract::reflection;
use contract::users_v1::users_service_server::{UsersService, UsersServiceServer};
use contract::users_v1::{
    GetUserRequest, GetUserResponse, ListUsersRequest, ListUsersResponse, PageUsersRequest, PageUsersResponse,
    StreamUsersRequest, StreamUsersResponse,
};
use contract::weather_v1::weather_service_server::{WeatherService, WeatherServiceServer};
use contract::weather_v1::{GetCurrentWeatherRequest, GetCurrentWeatherResponse};
use tokio_stream::Stream;
use tonic::service::Routes;
use tonic::{Request, Response, Status};

use crate::source::Source;

/// Everything a tier answers over gRPC.
///
/// # Errors
/// When the contract's description cannot be read, which would be a mistake in the build.
pub(crate) async fn routes(source: Arc<Source>) -> Result<Routes, tonic_reflection::server::Error> {
    let tier = Tier(source);
    let (reporter, health) = tonic_health::server::health_reporter();
    reporter.set_serving::<WeatherServiceServer<Tier>>().await;
    reporter.set_serving::<UsersServiceServer<Tier>>().await;
    reporter.set_serving::<MetricsServiceServer<Tier>>().await;
    let mut services = Routes::builder();
    services
        .add_service(WeatherServiceServer::new(tier.clone()))
        .add_service(UsersServiceServer::new(tier.clone()))
        .add_service(MetricsServiceServer::new(tier))
        .add_service(health)
        .add_service(reflection().build_v1()?)
        .add_service(reflection().build_v1alpha()?);
    Ok(services.routes().prepare())
}

/// A tier's services.
#[derive(Clone, Debug)]
struct Tier(Arc<Source>);

#[tonic::async_trait]
impl WeatherService for Tier {
    async fn get_current_weather(
        &self,
        request: Request<GetCurrentWeatherRequest>,
    ) -> Result<Response<GetCurrentWeatherResponse>, Status> {
        let weather = self.0.weather(&request.get_ref().city).await?;
        Ok(Response::new(weather.into()))
    }
}

#[tonic::async_trait]
impl UsersService for Tier {
    type StreamUsersStream = Pin<Box<dyn Stream<Item = Result<StreamUsersResponse, Status>> + Send>>;

    async fn get_user(&self, request: Request<GetUserRequest>) -> Result<Response<GetUserResponse>, Status> {
        let user = self.0.user(request.get_ref().id.into()).await?;
        let user = match user {
            Cow::Borrowed(user) => user.into(),
            Cow::Owned(user) => user.into(),
        };
        Ok(Response::new(GetUserResponse { user: Some(user) }))
    }

    async fn list_users(&self, request: Request<ListUsersRequest>) -> Result<Response<ListUsersResponse>, Status> {
        let limit = request.get_ref().limit.unwrap_or(20);
        Ok(Response::new(self.0.users(limit.into()).await?.into()))
    }

    async fn page_users(&self, request: Request<PageUsersRequest>) -> Result<Response<PageUsersResponse>, Status> {
        let asked = request.get_ref();
        let (page, size) = (asked.page.unwrap_or(1), asked.size.unwrap_or(50));
        Ok(Response::new(self.0.page(page.into(), size.into()).await?.into()))
    }

    async fn stream_users(
        &self,
        _request: Request<StreamUsersRequest>,
    ) -> Result<Response<Self::StreamUsersStream>, Status> {
        Err(Status::unimplemented(
            "streams end at the first tier: ask the gRPC server for them",
        ))
    }
}

#[tonic::async_trait]
impl MetricsService for Tier {
    async fn get_metrics_document(
        &self,
        _request: Request<GetMetricsDocumentRequest>,
    ) -> Result<Response<GetMetricsDocumentResponse>, Status> {
        let document = self.0.document().await?.into_owned();
        Ok(Response::new(GetMetricsDocumentResponse {
            content_type: document.content_type,
            text: document.text,
        }))
    }
}
