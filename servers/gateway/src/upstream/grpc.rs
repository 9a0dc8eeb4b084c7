//! Asking the next tier over gRPC: one connection, on which all questions travel beside each other.

use std::time::Duration;

use contract::IncompleteAnswer;
use contract::metrics_v1::GetMetricsDocumentRequest;
use contract::metrics_v1::metrics_service_client::MetricsServiceClient;
use contract::users_v1::users_service_client::UsersServiceClient;
use contract::users_v1::{GetUserRequest, ListUsersRequest, PageUsersRequest};
use contract::weather_v1::GetCurrentWeatherRequest;
use contract::weather_v1::weather_service_client::WeatherServiceClient;
use domain::{MetricsDocument, Page, User, UserError, Users};
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint};
use tonic::{Code, Status};

use super::address::Address;
use super::error::UpstreamError;
use crate::answers::CityWeather;
use crate::failure::{Failure, Kind};

/// A connection to the next tier, opened again when it is lost.
#[derive(Debug)]
pub(super) struct Link {
    channel: Channel,
}

impl Link {
    pub(super) fn new(address: &Address, authority: Option<&[u8]>, deadline: Duration) -> Result<Self, String> {
        let scheme = if address.is_secure() { "https" } else { "http" };
        let mut endpoint = Endpoint::from_shared(format!("{scheme}://{}", address.place))
            .map_err(|error| error.to_string())?
            .connect_timeout(deadline)
            .tcp_nodelay(true);
        if let Some(authority) = authority {
            let tls = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(authority));
            endpoint = endpoint.tls_config(tls).map_err(|error| format!("--ca: {error}"))?;
        }
        let channel = endpoint.connect_lazy();
        Ok(Self { channel })
    }

    pub(super) async fn user(&self, id: i64) -> Result<User, UpstreamError> {
        // The contract's numbers are narrower: what does not fit is nobody's id.
        let id = i32::try_from(id).map_err(|_| UserError::UnknownUser { id })?;
        let answer = self.users_service().get_user(GetUserRequest { id }).await;
        Ok(answer.map_err(|status| meant(&status))?.into_inner().try_into()?)
    }

    pub(super) async fn users(&self, limit: i64) -> Result<Users<'static>, UpstreamError> {
        let Ok(narrow) = i32::try_from(limit) else {
            return Ok(domain::users(limit)?);
        };
        let asked = ListUsersRequest { limit: Some(narrow) };
        let answer = self.users_service().list_users(asked).await;
        Ok(answer.map_err(|status| meant(&status))?.into_inner().try_into()?)
    }

    pub(super) async fn page(&self, page: i64, size: i64) -> Result<Page<'static>, UpstreamError> {
        let (Ok(number), Ok(of)) = (i32::try_from(page), i32::try_from(size)) else {
            return Ok(domain::page_of_users(page, size)?);
        };
        let asked = PageUsersRequest {
            page: Some(number),
            size: Some(of),
        };
        let answer = self.users_service().page_users(asked).await;
        Ok(answer.map_err(|status| meant(&status))?.into_inner().try_into()?)
    }

    pub(super) async fn weather(&self, city: &str) -> Result<CityWeather, UpstreamError> {
        let asked = GetCurrentWeatherRequest { city: city.to_owned() };
        let answer = WeatherServiceClient::new(self.channel.clone())
            .get_current_weather(asked)
            .await;
        Ok(answer.map_err(|status| meant(&status))?.into_inner().into())
    }

    pub(super) async fn document(&self) -> Result<MetricsDocument, UpstreamError> {
        let mut service = MetricsServiceClient::new(self.channel.clone());
        let answer = service.get_metrics_document(GetMetricsDocumentRequest {}).await;
        let answer = answer.map_err(|status| meant(&status))?.into_inner();
        Ok(MetricsDocument {
            content_type: answer.content_type,
            text: answer.text,
        })
    }

    fn users_service(&self) -> UsersServiceClient<Channel> {
        UsersServiceClient::new(self.channel.clone())
    }
}

/// What a status means: the other tier's own word, or that there was none.
fn meant(status: &Status) -> UpstreamError {
    let kind = Kind::of_grpc(status.code());
    match status.code() {
        Code::InvalidArgument | Code::NotFound | Code::DeadlineExceeded => {
            UpstreamError::Refused(Failure::new(kind, status.message()))
        }
        // A tier that cannot answer says what it lacks; without a connection the client says why there is none.
        Code::Unavailable if std::error::Error::source(status).is_none() => {
            UpstreamError::Refused(Failure::new(kind, status.message()))
        }
        _ if std::error::Error::source(status).is_some() => UpstreamError::lost(status),
        code => UpstreamError::Lost(format!("{code:?}: {}", status.message())),
    }
}

impl From<IncompleteAnswer> for UpstreamError {
    fn from(IncompleteAnswer(field): IncompleteAnswer) -> Self {
        Self::Lost(format!("its message has no good {field}"))
    }
}
