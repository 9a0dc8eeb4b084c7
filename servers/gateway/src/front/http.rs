//! Answering over HTTP, with the paths, the words and the bytes of the HTTP server.

use std::borrow::Cow;
use std::sync::Arc;

use axum::Router;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::routing::get;
use domain::{MetricsDocument, Page, User, Users};
use http_server::questions::{
    CITY_EXAMPLE, CityQuestion, LIST_EXAMPLE, ListQuestion, PAGE_EXAMPLE, PageQuestion, USER_EXAMPLE,
};
use http_server::{Answer, Problem, health, refusing, unknown_path};

use crate::answers::CityWeather;
use crate::source::Source;

/// Whom the handlers ask.
type Asked = State<Arc<Source>>;

/// Everything a tier answers over HTTP.
pub(crate) fn router(source: Arc<Source>) -> Router {
    let router = Router::new()
        .route("/api/weather/current", get(weather))
        .route("/api/users", get(list))
        .route("/api/users/page", get(page))
        // Streams end at the first tier: a deadline over the whole answer and an answer of many minutes exclude each other.
        .route("/api/users/stream", get(unknown_path))
        .route("/api/users/{id}", get(one))
        .route("/api/metrics/document", get(document))
        .route("/health", get(health));
    refusing(router).with_state(source)
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use axum::Router;
    use axum::body::{Body, to_bytes};
    use axum::http::Request;
    use proptest::prelude::{ProptestConfig, Strategy, any, prop_oneof, proptest};
    use proptest::sample::select;
    use tower::ServiceExt;

    use crate::source::Source;
    use crate::store::{Kind, Store};

    /// Status, content type and body.
    fn ask(router: Router, path: &str) -> (u16, String, Vec<u8>) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let request = Request::get(path).body(Body::empty()).unwrap();
            let response = router.oneshot(request).await.unwrap();
            let kind = response.headers()["content-type"].to_str().unwrap().to_owned();
            let status = response.status().as_u16();
            let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
            (status, kind, body.to_vec())
        })
    }

    fn value() -> impl Strategy<Value = String> {
        prop_oneof![
            3 => (-1..=101_i64).prop_map(|number| number.to_string()),
            2 => any::<i64>().prop_map(|number| number.to_string()),
            1 => select(vec!["", "Kyiv", "%20lviv", "%ff%fe", "1e3", "+1", "99999999999999999999"]).prop_map(str::to_owned),
            1 => any::<Vec<u8>>().prop_map(|bytes| bytes.iter().map(|byte| format!("%{byte:02x}")).collect()),
        ]
    }

    fn path() -> impl Strategy<Value = String> {
        let names = select(vec!["city", "limit", "page", "size", "other"]);
        let pairs = proptest::collection::vec((names, value()), 0..4);
        let place = select(vec![
            "/api/weather/current",
            "/api/users",
            "/api/users/page",
            "/api/users/{}",
            "/api/metrics/document",
            "/health",
            "/elsewhere",
        ]);
        (place, value(), pairs).prop_map(|(place, value, pairs)| {
            let pairs: Vec<String> = pairs.iter().map(|(name, value)| format!("{name}={value}")).collect();
            format!("{}?{}", place.replace("{}", &value), pairs.join("&"))
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn whatever_is_asked_the_answer_is_that_of_the_http_server(path in path()) {
            let store = Arc::new(Store::open(Kind::Memory, 1).unwrap());
            let tier = super::router(Arc::new(Source::Store(store)));
            assert_eq!(ask(tier, &path), ask(http_server::router(), &path), "{path}");
        }
    }
}
