//! The series: their loads, the pushes that measure them, and their values at the first push.

use wirebench_record::metric::Metric;
use wirebench_record::run::{LoadRecord, SearchRecord};

use super::chance::hex;
use super::events;
use super::levels::{
    COUNTS_GRPC, COUNTS_HTTP, COUNTS_MULTI, DURATION_HEY, GRPC_GHZ, GRPC_H2LOAD, HTTP_H2LOAD, HTTP_HEY, Kind,
    MULTI_GHZ, MULTI_H2LOAD, STREAMS_GRPC, STREAMS_HTTP, STREAMS_MULTI, swept,
};
use super::pushes::COUNT;

/// One scenario on one server by one driver.
pub(super) struct Made {
    pub(super) scenario: &'static str,
    pub(super) server: &'static str,
    pub(super) driver: &'static str,
    pub(super) protocol: &'static str,
    /// The first and the last push at which it is measured.
    pub(super) from: usize,
    pub(super) to: usize,
    /// Standard deviation of the ratio of server CPU times; those of other metrics are multiples of it.
    pub(super) noise: f64,
    pub(super) kind: Kind,
}

const LAST: usize = COUNT - 1;
/// The scenario that searches for the highest rate.
pub(super) const CAPACITY: &str = "weather-capacity";
/// The objective of the search: a p99 latency in ns.
pub(super) const OBJECTIVE_NS: u64 = 5_000_000;
/// The first push that was counted.
const COUNTED_FROM: usize = 84;

/// Every series.
pub(super) fn all() -> Vec<Made> {
    let mut all = vec![
        made(["weather-fixed-count", "http", "hey", "http"], 0.010, HTTP_HEY),
        made(["weather-fixed-count", "http", "h2load", "http"], 0.010, HTTP_H2LOAD),
        made(["weather-fixed-count", "grpc", "ghz", "grpc"], 0.012, GRPC_GHZ),
        made(["weather-fixed-count", "grpc", "h2load", "grpc"], 0.011, GRPC_H2LOAD),
        made(["weather-fixed-count", "grpc-multi", "ghz", "grpc"], 0.015, MULTI_GHZ),
        made(
            ["weather-fixed-count", "grpc-multi", "h2load", "grpc"],
            0.013,
            MULTI_H2LOAD,
        ),
        made(["weather-fixed-duration", "http", "hey", "http"], 0.010, DURATION_HEY),
        made(["weather-multiplexed", "http", "h2load", "h2c"], 0.010, STREAMS_HTTP),
        made(["weather-multiplexed", "grpc", "h2load", "grpc"], 0.010, STREAMS_GRPC),
        made(
            ["weather-multiplexed", "grpc-multi", "h2load", "grpc"],
            0.015,
            STREAMS_MULTI,
        ),
        made(
            ["start-up", "http", "hyperfine", "process"],
            0.020,
            Kind::Starts(3_871_000.0),
        ),
        made(
            ["start-up", "grpc", "hyperfine", "process"],
            0.020,
            Kind::Starts(4_814_000.0),
        ),
        made(
            ["count-weather", "http", "hey", "http"],
            0.0,
            Kind::Counted(&COUNTS_HTTP),
        ),
        made(
            ["count-weather", "grpc", "ghz", "grpc"],
            0.0,
            Kind::Counted(&COUNTS_GRPC),
        ),
        made(
            ["count-weather", "grpc-multi", "ghz", "grpc"],
            0.0,
            Kind::Counted(&COUNTS_MULTI),
        ),
    ];
    all.extend(sweep());
    all.push(made(["weather-capacity", "http", "h2load", "http"], 0.010, HTTP_H2LOAD));
    all.push(made(["weather-capacity", "grpc", "h2load", "grpc"], 0.011, GRPC_H2LOAD));
    all.iter_mut().for_each(Made::set_pushes);
    all.sort_by_key(Made::id);
    all
}

/// The series of the sweep.
fn sweep() -> Vec<Made> {
    // A request costs more with more connections, and more so over HTTP/1.1.
    let steps = [
        ("weather-sweep-c10", 10, 1.0, 1.0),
        ("weather-sweep-c50", 50, 1.04, 1.02),
        ("weather-sweep-c200", 200, 1.15, 1.07),
        ("weather-sweep-c800", 800, 1.38, 1.16),
    ];
    let series = steps.into_iter().flat_map(|(scenario, connections, http, grpc)| {
        let [http, grpc] =
            [(http, &HTTP_H2LOAD), (grpc, &GRPC_H2LOAD)].map(|(times, like)| swept(connections, times, like));
        [
            made([scenario, "http", "h2load", "http"], 0.010, http),
            made([scenario, "grpc", "h2load", "grpc"], 0.011, grpc),
        ]
    });
    series.collect()
}

const fn made([scenario, server, driver, protocol]: [&'static str; 4], noise: f64, kind: Kind) -> Made {
    let (from, to) = (0, LAST);
    Made {
        scenario,
        server,
        driver,
        protocol,
        from,
        to,
        noise,
        kind,
    }
}

impl Made {
    /// Sets the first and the last push of series that are not measured at every push.
    fn set_pushes(&mut self) {
        match (self.scenario, self.server, self.driver) {
            ("weather-fixed-count", "grpc-multi", "h2load") => self.from = COUNT - 3,
            ("weather-fixed-duration", ..) => self.to = 188,
            // Sweeps and searches are measured by the newest run only.
            _ if self.is_sweep_or_search() => self.from = LAST,
            ("count-weather", ..) => self.from = COUNTED_FROM,
            _ => {}
        }
    }

    pub(super) fn id(&self) -> String {
        format!("{}@{}@{}", self.scenario, self.server, self.driver)
    }

    /// True for a sweep or a search.
    pub(super) fn is_sweep_or_search(&self) -> bool {
        self.scenario == CAPACITY || self.scenario.starts_with("weather-sweep-")
    }

    /// The digest: another one if the number of requests is another one.
    pub(super) fn digest(&self, place: usize) -> String {
        let load = self.load(place);
        hex(&format!("{} {:?}", self.id(), load.requests), 12)
    }

    pub(super) fn load(&self, place: usize) -> LoadRecord {
        let mut load = LoadRecord {
            warmup_ns: Some(200_000_000),
            ..LoadRecord::default()
        };
        match &self.kind {
            Kind::Load(own) => {
                (load.connections, load.streams) = (Some(own.connections), Some(own.streams));
                if self.scenario == CAPACITY {
                    load.duration_ns = Some(1_000_000_000);
                    load.search = Some(SearchRecord {
                        p99_ns: OBJECTIVE_NS,
                        from_per_s: 5_000,
                        to_per_s: 120_000,
                    });
                } else if self.scenario == "weather-fixed-duration" {
                    load.duration_ns = Some(1_000_000_000);
                } else {
                    load.requests = Some(events::requests(&self.id(), place));
                }
            }
            Kind::Starts(_) => load.starts = Some(10),
            Kind::Counted(_) => {
                (load.connections, load.streams, load.counted) = (Some(1), Some(1), Some(400));
                load.warmup_ns = None;
            }
        }
        load
    }

    /// The metrics it has, with their values at the first push.
    pub(super) fn metrics(&self) -> Vec<(Metric, f64)> {
        match &self.kind {
            Kind::Load(load) => vec![
                (Metric::ServerCpu, load.server_ns.iter().sum()),
                (Metric::Throughput, load.throughput),
                (Metric::LatencyP50, load.p50_ns),
                (Metric::LatencyP99, load.p99_ns),
                (Metric::PeakRss, load.rss_bytes),
            ],
            Kind::Starts(p50) => vec![(Metric::LatencyP50, *p50)],
            Kind::Counted(counts) => counts.to_vec(),
        }
    }

    /// Standard deviation of the ratio of a metric.
    pub(super) fn noise(&self, metric: Metric) -> f64 {
        let times = match metric {
            Metric::Throughput => 1.1,
            Metric::LatencyP50 => 1.2,
            Metric::LatencyP99 => 2.0,
            Metric::PeakRss => 0.7,
            _ => 1.0,
        };
        self.noise * times
    }

    /// The driver's command.
    pub(super) fn command(&self, place: usize) -> Vec<String> {
        let load = self.load(place);
        let number = |count: Option<u32>| count.unwrap_or(1).to_string();
        let (connections, streams) = (number(load.connections), number(load.streams));
        let requests = load.requests.or(load.counted).unwrap_or(0).to_string();
        let url = "http://127.0.0.1:{port}/api/weather/current?city=Kyiv";
        let call = "wirebench.weather.v1.WeatherService/GetCurrentWeather";
        let words: Vec<&str> = match self.driver {
            "hey" => vec!["hey", "-c", &connections, "-n", &requests, "-m", "GET", url],
            "ghz" => vec![
                "ghz",
                "--insecure",
                "--call",
                call,
                "--concurrency",
                &connections,
                "--total",
                &requests,
                "127.0.0.1:{port}",
            ],
            "h2load" => vec![
                "h2load",
                "--threads",
                "1",
                "--clients",
                &connections,
                "--max-concurrent-streams",
                &streams,
                "--requests",
                &requests,
                "--log-file",
                "{raw}",
                "http://127.0.0.1:{port}",
            ],
            _ => vec!["hyperfine", "--shell", "none", "--runs", "10", "{start_command}"],
        };
        words.into_iter().map(str::to_owned).collect()
    }
}
