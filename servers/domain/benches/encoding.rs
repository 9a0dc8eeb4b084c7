//! What it costs to encode and to decode: one user, twenty, a page of fifty and the metrics document, in JSON and in protobuf.
//!
//! Each format begins and ends with its own types: JSON with the shared data, protobuf with what is generated from the
//! contract. `cargo bench --package domain` prints times and writes them to `target/criterion/PAYLOAD/FORMAT-STEP/`.

use std::hint::black_box;

use contract::metrics_v1::GetMetricsDocumentResponse;
use contract::users_v1::{GetUserResponse, ListUsersResponse, PageUsersResponse};
use criterion::{Criterion, Throughput};
use domain::{MetricsDocument, Page, User, Users};
use prost::Message;
use serde::Serialize;
use serde::de::DeserializeOwned;

fn json<T: Serialize + DeserializeOwned>(criterion: &mut Criterion, payload: &str, value: &T) {
    let encode = |value: &T| serde_json::to_vec(value).expect("plain data");
    let decode = |bytes: &[u8]| serde_json::from_slice::<T>(bytes).expect("what was encoded can be decoded");
    let bytes = encode(value);
    let mut group = criterion.benchmark_group(payload);
    group.throughput(Throughput::Bytes(bytes.len() as u64));
    group.bench_function("json-encode", |bencher| bencher.iter(|| encode(black_box(value))));
    group.bench_function("json-decode", |bencher| bencher.iter(|| decode(black_box(&bytes))));
    group.bench_function("json-round-trip", |bencher| {
        bencher.iter(|| decode(&encode(black_box(value))));
    });
}

fn protobuf<M: Message + Default>(criterion: &mut Criterion, payload: &str, message: &M) {
    let decode = |bytes: &[u8]| M::decode(bytes).expect("what was encoded can be decoded");
    let bytes = message.encode_to_vec();
    let mut group = criterion.benchmark_group(payload);
    group.throughput(Throughput::Bytes(bytes.len() as u64));
    group.bench_function("protobuf-encode", |bencher| {
        bencher.iter(|| black_box(message).encode_to_vec());
    });
    group.bench_function("protobuf-decode", |bencher| bencher.iter(|| decode(black_box(&bytes))));
    group.bench_function("protobuf-round-trip", |bencher| {
        bencher.iter(|| decode(&black_box(message).encode_to_vec()));
    });
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let user = domain::user(1).expect("there is a first user");
    let users = domain::users(20).expect("there are twenty");
    let page = domain::page_of_users(1, 50).expect("there is a first page");
    let document = domain::metrics_document();

    json::<User>(&mut criterion, "user", user);
    let message = GetUserResponse {
        user: Some(user.into()),
    };
    protobuf(&mut criterion, "user", &message);
    json::<Users<'static>>(&mut criterion, "users-20", &users);
    protobuf(&mut criterion, "users-20", &ListUsersResponse::from(&*users.users));
    json::<Page<'static>>(&mut criterion, "page-50", &page);
    protobuf(&mut criterion, "page-50", &PageUsersResponse::from(&page));
    json::<MetricsDocument>(&mut criterion, "metrics-document", document);
    protobuf(
        &mut criterion,
        "metrics-document",
        &GetMetricsDocumentResponse::from(document),
    );
    criterion.final_summary();
}
