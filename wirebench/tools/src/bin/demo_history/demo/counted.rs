//! Counted costs of requests: the same in every run until the code changes.

use std::collections::BTreeMap;

use wirebench_record::counts::{CountStatus, Counts, Figure, FunctionCost, Point};
use wirebench_record::metric::Metric;
use wirebench_record::run::Variant;

use super::events::{ACCEPTED, WORSE, level};
use super::series::Made;

/// Functions, and their shares of the instructions before the newest steps. The rest is spread over functions too cheap to be
/// listed.
const SHARED: [(&str, f64); 9] = [
    ("tokio::runtime::scheduler::current_thread::Context::park", 0.061),
    ("tokio::runtime::io::driver::Driver::turn", 0.052),
    (
        "<tokio::net::tcp::stream::TcpStream as tokio::io::async_write::AsyncWrite>::poll_write",
        0.034,
    ),
    (
        "<bytes::bytes_mut::BytesMut as bytes::buf::buf_mut::BufMut>::put_slice",
        0.048,
    ),
    ("core::ptr::drop_in_place<http::header::map::HeaderMap>", 0.026),
    ("http::header::map::HeaderMap<T>::try_insert2", 0.071),
    ("_int_malloc", 0.083),
    ("_int_free", 0.058),
    ("__memcpy_avx_unaligned_erms", 0.064),
];
const HTTP: [(&str, f64); 6] = [
    ("httparse::Request::parse_with_config_and_uninit_headers", 0.104),
    ("hyper::proto::h1::role::Server::encode_headers", 0.087),
    ("hyper::proto::h1::dispatch::Dispatcher<D,Bs,I,T>::poll_loop", 0.072),
    (
        "<serde_json::ser::Compound<W,F> as serde::ser::SerializeStruct>::serialize_field",
        0.068,
    ),
    ("matchit::tree::Node<T>::at", 0.031),
    ("http_server::weather::current", 0.024),
];
const GRPC: [(&str, f64); 6] = [
    ("h2::hpack::decoder::Decoder::decode", 0.118),
    ("h2::hpack::encoder::Encoder::encode", 0.079),
    ("h2::proto::streams::prioritize::Prioritize::poll_complete", 0.066),
    ("h2::codec::framed_read::decode_frame", 0.061),
    ("prost::encoding::string::merge", 0.012),
    ("tonic::server::grpc::Grpc<T>::map_response", 0.043),
];
/// The functions that the newest steps add.
const NEW_HTTP: &str = "http_server::trace::header_to_string";
const NEW_GRPC: &str = "grpc_server::deadline::of_caller";

/// A count at a push, rounded to what a slope over 300 requests can be.
pub(super) fn value(series: &str, metric: Metric, base: f64, place: usize) -> f64 {
    let value = base * level(series, metric, place);
    match metric {
        Metric::Instructions => (value * 4.0).round() / 4.0,
        _ => value.round(),
    }
}

/// The counts of a variant.
pub(super) fn counts(made: &Made, variant: Variant, code: usize, run: usize) -> Counts {
    let id = made.id();
    let values: BTreeMap<Metric, f64> = (made.metrics().into_iter())
        .map(|(metric, base)| (metric, value(&id, metric, base, code)))
        .collect();
    let mut counts = Counts::without(variant, CountStatus::Ok, String::new());
    counts.reason = None;
    for (metric, base) in made.metrics() {
        let figure = figure(metric, values[&metric], values[&Metric::StartUpInstructions]);
        counts.figures.push(figure);
        if matches!(metric, Metric::Instructions | Metric::Allocations) {
            let old = value(&id, metric, base, ACCEPTED.min(WORSE) - 1);
            counts.functions.extend(functions(made, metric, old, values[&metric]));
        }
    }
    let calls: &[(&str, f64)] = match made.server {
        "http" => &[("epoll_wait", 1.0), ("recvfrom", 2.0), ("sendto", 1.0)],
        "grpc" => &[("epoll_wait", 2.0), ("recvfrom", 2.0), ("writev", 2.0)],
        _ => &[("epoll_wait", 2.0), ("futex", 1.0), ("recvfrom", 2.0), ("writev", 2.0)],
    };
    counts.syscalls = calls.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
    if (made.server, run) == ("grpc-multi", 258) {
        refuse(&mut counts, Metric::Instructions);
    }
    counts
}

fn figure(metric: Metric, value: f64, start_up: f64) -> Figure {
    let slope = !matches!(
        metric,
        Metric::PayloadBytes | Metric::BinaryBytes | Metric::StartUpInstructions
    );
    let start = if metric == Metric::Instructions {
        start_up
    } else {
        620.0
    };
    let point = |requests: u32| Point {
        requests: u64::from(requests),
        total: total(start + value * f64::from(requests)),
        layout: 0,
    };
    let requests: &[u32] = match (slope, metric) {
        (false, _) => &[],
        (true, Metric::Instructions) => &[100, 100, 250, 400, 400],
        (true, _) => &[100, 400],
    };
    Figure {
        metric,
        value: Some(value),
        spread: Some(0.0),
        refused: None,
        by_layout: Vec::new(),
        points: requests.iter().map(|requests| point(*requests)).collect(),
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "some millions")]
fn total(value: f64) -> u64 {
    value.round() as u64
}

/// The functions: costs added since the older push are those of one new function; all others stay as they were.
fn functions(made: &Made, metric: Metric, old: f64, new: f64) -> Vec<FunctionCost> {
    let (own, added) = match made.server {
        "http" => (&HTTP, NEW_HTTP),
        _ => (&GRPC, NEW_GRPC),
    };
    let step = match metric {
        Metric::Instructions => 4.0,
        _ => 1.0,
    };
    let cost = |function: &str, cost: f64| FunctionCost {
        function: function.to_owned(),
        metric,
        cost,
        inclusive: None,
        blamed: None,
        calls: None,
        source: None,
    };
    let known = SHARED.iter().chain(own);
    let mut functions: Vec<FunctionCost> = known
        .map(|(function, share)| cost(function, (share * old * step).round() / step))
        .collect();
    if new > old {
        functions.push(cost(added, new - old));
    }
    functions.retain(|one| one.cost > 0.0);
    functions.sort_by(|one, other| other.cost.total_cmp(&one.cost));
    functions
}

fn refuse(counts: &mut Counts, metric: Metric) {
    let why = "repetitions differ by ±1.37 %, more than the 0.5 % up to which a figure is given (count.spread_at_most)";
    for figure in counts.figures.iter_mut().filter(|figure| figure.metric == metric) {
        figure.spread = figure.value.map(|value| (0.0137 * value).round());
        (figure.value, figure.refused) = (None, Some(why.into()));
    }
    counts.functions.retain(|one| one.metric != metric);
    (counts.status, counts.reason) = (CountStatus::Partial, Some(format!("{}: {why}", metric.label())));
}
