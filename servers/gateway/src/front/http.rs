//! Answering over HTTP, with the paths, the words and the bytes of the HTTP server.

use std::borrow::Cow;
use std::sync::Arc;

use axum::Router;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::{Method, Uri};
use axum::routing::get;
use domain::{MetricsDocument, Page, User, Users};
use http_server::questions::{
    CITY_EXAMPLE, CityQuestion, LIST_EXAMPLE, ListQuestion, PAGE_EXAMPLE, PageQuestion, USER_EXAMPLE,
};
use http_server::{Answer, Problem};

use crate::answers::CityWeather;
use crate::source::Source;

/// Whom the handlers ask.
type Asked = State<Arc<Source>>;

/// Everything a tier answers over HTTP.
pub(crate) fn router(source: Arc<Source>) -> Router {
    Router::new()
        .route("/api/weather/current", get(weather))
        .route("/api/users", get(list))
        .route("/api/users/page", get(page))
        // Streams end at the first tier: a deadline over the whole answer and an answer of many minutes exclude each other.
        .route("/api/users/stream", get(unknown_path))
        .route("/api/users/{id}", get(one))
        .route("/api/metrics/document", get(document))
        .route("/health", get(health))
        .fallback(unknown_path)
        .method_not_allowed_fallback(unknown_method)
        .with_state(source)
}

async fn weather(
    State(source): Asked,
    question: Result<Query<CityQuestion>, QueryRejection>,
) -> Result<Answer<CityWeather>, Problem> {
    let Query(question) = question.map_err(|rejection| Problem::question(&rejection, CITY_EXAMPLE))?;
    Ok(Answer(source.weather(&question.city).await?))
}

async fn one(
    State(source): Asked,
    id: Result<Path<i64>, PathRejection>,
) -> Result<Answer<Cow<'static, User>>, Problem> {
    let Path(id) = id.map_err(|rejection| Problem::path(&rejection, USER_EXAMPLE))?;
    Ok(Answer(source.user(id).await?))
}

async fn list(
    State(source): Asked,
    question: Result<Query<ListQuestion>, QueryRejection>,
) -> Result<Answer<Users<'static>>, Problem> {
    let Query(question) = question.map_err(|rejection| Problem::question(&rejection, LIST_EXAMPLE))?;
    Ok(Answer(source.users(question.limit).await?))
}

async fn page(
    State(source): Asked,
    question: Result<Query<PageQuestion>, QueryRejection>,
) -> Result<Answer<Page<'static>>, Problem> {
    let Query(question) = question.map_err(|rejection| Problem::question(&rejection, PAGE_EXAMPLE))?;
    Ok(Answer(source.page(question.page, question.size).await?))
}

async fn document(State(source): Asked) -> Result<Answer<Cow<'static, MetricsDocument>>, Problem> {
    Ok(Answer(source.document().await?))
}

async fn health() -> &'static str {
    "ok"
}

async fn unknown_path(uri: Uri) -> Problem {
    Problem::unknown_path(uri.path())
}

async fn unknown_method(method: Method) -> Problem {
    Problem::unknown_method(&method)
}
