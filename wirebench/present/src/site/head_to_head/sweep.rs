//! Sweeps as curves: CPU time of a request against connections, latency against throughput where rates were tried.

use std::collections::BTreeMap;

use crate::report::format::{count, time};
use crate::site::scale::{Axis, Linear, Log};
use crate::site::shown::name;
use crate::site::svg::{Anchor, Markup, Path, Svg};
use wirebench_judge::summary::head_to_head::is_grpc;
use wirebench_judge::summary::{Row, sections};
use wirebench_record::run::Run;

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 270.0;
const LEFT: f64 = 78.0;
const RIGHT: f64 = 100.0;
const TOP: f64 = 22.0;
const BOTTOM: f64 = 40.0;
/// Points that make a curve.
const FEWEST: usize = 3;

/// A sweep of one driver.
#[derive(Debug)]
pub(super) struct Sweep {
    pub(super) title: String,
    pub(super) about: &'static str,
    pub(super) picture: Markup,
}

/// A server's points.
struct Curve {
    server: String,
    grpc: bool,
    points: Vec<(f64, f64)>,
}

type Curves = BTreeMap<(String, String), Vec<Curve>>;

/// Every sweep of a run, and the scenarios that are points of one.
pub(super) fn sweeps(run: &Run) -> Vec<Sweep> {
    let sections = sections(run);
    let rows: Vec<&Row> = sections
        .iter()
        .flat_map(|section| &section.rows)
        .filter(|row| row.has_load())
        .collect();
    let (mut connections, mut rates) = (Curves::new(), Curves::new());
    for row in rows {
        if let Some((base, point)) = row.sweep_point() {
            add(&mut connections, base, row, &[point]);
        }
        let steps = row.tried_rates();
        if !steps.is_empty() {
            add(&mut rates, row.series.scenario.clone(), row, &steps);
        }
    }
    let cpu = drawn(
        connections,
        "CPU time of a request against connections",
        |curves, title| {
            picture(
                curves,
                title,
                ("connections, log axis", count),
                ("server CPU per request", time),
            )
        },
    );
    let latency = drawn(
        rates,
        "latency p99 against throughput, for every rate tried",
        |curves, title| {
            picture(
                curves,
                title,
                ("good answers/s", count),
                ("latency p99, log axis", time),
            )
        },
    );
    cpu.into_iter().chain(latency).collect()
}

fn add(curves: &mut Curves, scenario: String, row: &Row, points: &[(f64, f64)]) {
    let driver = row.series.driver.clone();
    let curves = curves.entry((scenario, driver)).or_default();
    match curves.iter_mut().find(|curve| curve.server == row.series.server) {
        Some(known) => known.points.extend(points),
        None => curves.push(Curve {
            server: row.series.server.clone(),
            grpc: is_grpc(&row.series.protocol),
            points: points.to_vec(),
        }),
    }
}

fn drawn(all: Curves, about: &'static str, draw: impl Fn(&[Curve], &str) -> Markup) -> Vec<Sweep> {
    let sweep = |((scenario, driver), mut curves): ((String, String), Vec<Curve>)| {
        curves.retain(|curve| curve.points.len() >= FEWEST);
        for curve in &mut curves {
            curve.points.sort_by(|one, other| one.0.total_cmp(&other.0));
        }
        let title = format!("{} by {}", name(&scenario), name(&driver));
        (!curves.is_empty()).then(|| Sweep {
            picture: draw(&curves, &format!("{title}: {about}")),
            about,
            title,
        })
    };
    all.into_iter().filter_map(sweep).collect()
}

/// The label of an axis, and how its values are written.
type Words = (&'static str, fn(f64) -> String);

/// Curves over two axes; the one whose label says so is logarithmic.
fn picture(curves: &[Curve], title: &str, (x_label, x_words): Words, (y_label, y_words): Words) -> Markup {
    let ends = |read: fn(&(f64, f64)) -> f64| {
        let values = || curves.iter().flat_map(|curve| &curve.points).map(read);
        (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max))
    };
    let ((low_x, high_x), (low_y, high_y)) = (ends(|point| point.0), ends(|point| point.1));
    let (left, right, bottom, top) = (LEFT, WIDTH - RIGHT, HEIGHT - BOTTOM, TOP);
    let is_log = |label: &str| label.ends_with("log axis");
    let x = match is_log(x_label) {
        true => Axis::Log(Log::new((low_x / 1.1, left), (high_x * 1.1, right))),
        false => Axis::Linear(Linear::new((0.0, left), (high_x * 1.05, right))),
    };
    let y = match is_log(y_label) {
        true => Axis::Log(Log::new((low_y / 1.2, bottom), (high_y * 1.2, top))),
        false => Axis::Linear(Linear::new((0.0, bottom), (high_y * 1.1, top))),
    };
    let mut svg = Svg::new(WIDTH, HEIGHT);
    for tick in y.ticks(4.0) {
        let words = if tick == 0.0 { "0".to_owned() } else { y_words(tick) };
        svg.line("grid", (left, y.at(tick)), (right, y.at(tick)));
        svg.text("tick", (left - 6.0, y.at(tick) + 4.0), Anchor::End, &words);
    }
    for tick in x.ticks(4.0) {
        svg.line("grid", (x.at(tick), top), (x.at(tick), bottom));
        svg.text("tick", (x.at(tick), bottom + 16.0), Anchor::Middle, &x_words(tick));
    }
    svg.text("tick", (4.0, 12.0), Anchor::Start, y_label);
    let below = (f64::midpoint(left, right), HEIGHT - 5.0);
    svg.text("tick", below, Anchor::Middle, x_label);
    let mut labels = Vec::new();
    for curve in curves {
        draw_curve(&mut svg, curve, (x, x_words), (y, y_words), &mut labels);
    }
    svg.finish("sweep", title)
}

type Scale = (Axis, fn(f64) -> String);

/// Draws a curve and the name of its server. `labels` are the heights at which names stand already.
fn draw_curve(svg: &mut Svg, curve: &Curve, (x, x_words): Scale, (y, y_words): Scale, labels: &mut Vec<f64>) {
    let class = if curve.grpc { "grpc" } else { "http" };
    let server = name(&curve.server);
    let mut line = Path::default();
    line.through(curve.points.iter().map(|point| (x.at(point.0), y.at(point.1))));
    svg.path(&format!("curve {class}"), &line, "");
    for point in &curve.points {
        let mut dot = Path::default();
        dot.dot((x.at(point.0), y.at(point.1)));
        let title = format!("{server}: {} at {}", y_words(point.1), x_words(point.0));
        svg.path(&format!("point {class}"), &dot, &title);
    }
    if let Some(last) = curve.points.last() {
        // Names that would cover each other stand one below the other.
        let mut at = y.at(last.1);
        while labels.iter().any(|other| (other - at).abs() < 13.0) {
            at += 13.0;
        }
        labels.push(at);
        let place = (x.at(last.0) + 8.0, at + 4.0);
        svg.text(&format!("name {class}"), place, Anchor::Start, &server);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::samples;
    use wirebench_record::run::{SearchRecord, SearchStep};

    #[test]
    fn connections_and_rates_become_curves_and_a_single_point_does_not() {
        let mut run = samples::reference();
        assert!(sweeps(&run).is_empty());
        let first = run
            .series
            .iter()
            .find(|series| series.id == "weather-fixed-count@http@h2load")
            .unwrap()
            .clone();
        for connections in [10, 100, 1_000] {
            let mut series = first.clone();
            series.scenario = format!("sweep-c{connections}-s1");
            series.id = format!("{}@http@h2load", series.scenario);
            series.load.connections = Some(connections);
            run.series.push(series);
        }
        let mut search = first;
        (search.scenario, search.id) = ("capacity".into(), "capacity@http@h2load".into());
        search.load.search = Some(SearchRecord {
            p99_ns: 5_000_000,
            from_per_s: 500,
            to_per_s: 40_000,
        });
        let step = |rate: u32| SearchStep {
            rate_per_s: rate,
            achieved_per_s: Some(rate),
            p99_ns: Some(u64::from(rate) * 100),
            passed: true,
            why: None,
        };
        search.rounds[0].search = [1_000, 2_000, 4_000].map(step).into();
        run.series.push(search);
        let found = sweeps(&run);
        let titles: Vec<&str> = found.iter().map(|sweep| sweep.title.as_str()).collect();
        assert_eq!(titles, ["sweep-s1 by h2load", "capacity by h2load"]);
        assert!(found[0].picture.to_string().contains("1,000") && found[1].picture.to_string().contains("latency p99"));
        for sweep in found {
            crate::site::well_formed::check(&sweep.picture.to_string()).unwrap();
        }
    }
}
