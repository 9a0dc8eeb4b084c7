//! The users service: the shared data behind the gRPC contract.

use std::pin::Pin;

use contract::user_refusal;
use contract::users_v1::users_service_server::UsersService;
use contract::users_v1::{
    GetUserRequest, GetUserResponse, ListUsersRequest, ListUsersResponse, PageUsersRequest, PageUsersResponse,
    StreamUsersRequest, StreamUsersResponse,
};
use futures_util::stream::{self, Stream, StreamExt};
use tokio::time::sleep;
use tonic::{Request, Response, Status};

/// Answers with the built-in users.
#[derive(Debug)]
pub(crate) struct BuiltInUsers;

#[tonic::async_trait]
impl UsersService for BuiltInUsers {
    type StreamUsersStream = Pin<Box<dyn Stream<Item = Result<StreamUsersResponse, Status>> + Send>>;

    async fn get_user(&self, request: Request<GetUserRequest>) -> Result<Response<GetUserResponse>, Status> {
        let user = domain::user(request.get_ref().id.into()).map_err(|error| user_refusal(&error))?;
        Ok(Response::new(GetUserResponse {
            user: Some(user.into()),
        }))
    }

    async fn list_users(&self, request: Request<ListUsersRequest>) -> Result<Response<ListUsersResponse>, Status> {
        let limit = request.get_ref().limit.unwrap_or(20);
        let users = domain::users(limit.into()).map_err(|error| user_refusal(&error))?;
        Ok(Response::new((&*users.users).into()))
    }

    async fn page_users(&self, request: Request<PageUsersRequest>) -> Result<Response<PageUsersResponse>, Status> {
        let asked = request.get_ref();
        let (page, size) = (asked.page.unwrap_or(1), asked.size.unwrap_or(50));
        let page = domain::page_of_users(page.into(), size.into()).map_err(|error| user_refusal(&error))?;
        Ok(Response::new((&page).into()))
    }

    async fn stream_users(
        &self,
        request: Request<StreamUsersRequest>,
    ) -> Result<Response<Self::StreamUsersStream>, Status> {
        let asked = request.get_ref();
        let (count, interval_ms) = (asked.count.unwrap_or(100), asked.interval_ms.unwrap_or(0));
        let (users, pause) =
            domain::stream_of_users(count.into(), interval_ms.into()).map_err(|error| user_refusal(&error))?;
        // Not tokio_stream::iter, which yields to the runtime after every 32 items: each time tonic would send a frame that is not full.
        let users = stream::iter(users.enumerate());
        let answer = |user: &domain::User| {
            Ok(StreamUsersResponse {
                user: Some(user.into()),
            })
        };
        if pause.is_zero() {
            return Ok(Response::new(Box::pin(users.map(move |(_, user)| answer(user)))));
        }
        Ok(Response::new(Box::pin(users.then(move |(index, user)| async move {
            if index > 0 {
                sleep(pause).await;
            }
            answer(user)
        }))))
    }
}
