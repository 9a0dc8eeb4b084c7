//! The users: one, the first few, a page, and a stream of lines.

use std::convert::Infallible;

use axum::body::{Body, Bytes};
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use domain::{Page, User, Users};
use tokio::time::sleep;
use tokio_stream::StreamExt;

use crate::answer::{Answer, Problem};
use crate::questions::{
    LIST_EXAMPLE, ListQuestion, PAGE_EXAMPLE, PageQuestion, STREAM_EXAMPLE, StreamQuestion, USER_EXAMPLE,
};

pub(crate) async fn one(id: Result<Path<i64>, PathRejection>) -> Result<Answer<&'static User>, Problem> {
    let Path(id) = id.map_err(|rejection| Problem::path(&rejection, USER_EXAMPLE))?;
    Ok(Answer(domain::user(id)?))
}

pub(crate) async fn list(
    question: Result<Query<ListQuestion>, QueryRejection>,
) -> Result<Answer<Users<'static>>, Problem> {
    let Query(question) = question.map_err(|rejection| Problem::question(&rejection, LIST_EXAMPLE))?;
    Ok(Answer(domain::users(question.limit)?))
}

pub(crate) async fn page(
    question: Result<Query<PageQuestion>, QueryRejection>,
) -> Result<Answer<Page<'static>>, Problem> {
    let Query(question) = question.map_err(|rejection| Problem::question(&rejection, PAGE_EXAMPLE))?;
    Ok(Answer(domain::page_of_users(question.page, question.size)?))
}

/// One user on each line, with a pause before each.
pub(crate) async fn stream(question: Result<Query<StreamQuestion>, QueryRejection>) -> Result<Response, Problem> {
    let Query(question) = question.map_err(|rejection| Problem::question(&rejection, STREAM_EXAMPLE))?;
    let (users, pause) = domain::stream_of_users(question.count, question.interval_ms)?;
    let lines = tokio_stream::iter(users.enumerate());
    let body = if pause.is_zero() {
        Body::from_stream(lines.map(|(_, user)| line(user)))
    } else {
        Body::from_stream(lines.then(move |(index, user)| async move {
            if index > 0 {
                sleep(pause).await;
            }
            line(user)
        }))
    };
    Ok(([(CONTENT_TYPE, "application/x-ndjson")], body).into_response())
}

fn line(user: &User) -> Result<Bytes, Infallible> {
    let mut line = serde_json::to_vec(user).expect("a user is plain data");
    line.push(b'\n');
    Ok(line.into())
}
