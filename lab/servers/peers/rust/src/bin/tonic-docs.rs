//! tonic as its documentation shows it: generated code as it comes, tokio's default runtime, a stream by way of a channel.
//! With `--queue` the listener has a queue for 4,096 connections instead of tokio's 128, with `--http1` it takes HTTP/1.1 too.

use peers::users::users_service_server::{UsersService, UsersServiceServer};
use peers::users::*;
use peers::weather::weather_service_server::{WeatherService, WeatherServiceServer};
use peers::weather::{GetCurrentWeatherRequest, GetCurrentWeatherResponse};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status};

struct Data;

#[tonic::async_trait]
impl WeatherService for Data {
    async fn get_current_weather(
        &self,
        request: Request<GetCurrentWeatherRequest>,
    ) -> Result<Response<GetCurrentWeatherResponse>, Status> {
        domain::current_weather(&request.get_ref().city)
            .map(|weather| Response::new(weather.into()))
            .map_err(|error| Status::invalid_argument(error.to_string()))
    }
}

#[tonic::async_trait]
impl UsersService for Data {
    type StreamUsersStream = ReceiverStream<Result<StreamUsersResponse, Status>>;

    async fn stream_users(
        &self,
        request: Request<StreamUsersRequest>,
    ) -> Result<Response<Self::StreamUsersStream>, Status> {
        let (users, _) = domain::stream_of_users(request.get_ref().count().into(), 0)
            .map_err(|error| Status::invalid_argument(error.to_string()))?;
        let (sender, receiver) = mpsc::channel(4);
        tokio::spawn(async move {
            for user in users {
                if sender.send(Ok(user.into())).await.is_err() {
                    break;
                }
            }
        });
        Ok(Response::new(ReceiverStream::new(receiver)))
    }

    async fn get_user(&self, _: Request<GetUserRequest>) -> Result<Response<GetUserResponse>, Status> {
        Err(Status::unimplemented("only streams"))
    }

    async fn list_users(&self, _: Request<ListUsersRequest>) -> Result<Response<ListUsersResponse>, Status> {
        Err(Status::unimplemented("only streams"))
    }

    async fn page_users(&self, _: Request<PageUsersRequest>) -> Result<Response<PageUsersResponse>, Status> {
        Err(Status::unimplemented("only streams"))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let router = Server::builder()
        .accept_http1(peers::has_flag("--http1"))
        .add_service(WeatherServiceServer::new(Data))
        .add_service(UsersServiceServer::new(Data));
    if peers::has_flag("--queue") {
        let incoming = TcpIncoming::from(TcpListener::from_std(peers::listen()?)?);
        router.serve_with_incoming(incoming).await?;
    } else {
        router.serve(peers::address()?).await?;
    }
    Ok(())
}
