//! The series: their loads, the pushes that measure them, and their values at the first push.

use wirebench_record::metric::Metric;
use wirebench_record::run::{LoadRecord, SearchRecord};

use super::chance::hex;
use super::events;
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

/// How a series is measured.
pub(super) enum Kind {
    Load(Load),
    /// Process starts, by the median time of one in ns. Measured without a reference.
    Starts(f64),
    Counted(&'static [(Metric, f64)]),
}

/// A load, and its values at the first push.
pub(super) struct Load {
    pub(super) connections: u32,
    pub(super) streams: u32,
    pub(super) throughput: f64,
    /// Server CPU per request, ns: user, system.
    pub(super) server_ns: [f64; 2],
    /// Driver CPU per request, ns: user, system.
    pub(super) driver_ns: [f64; 2],
    pub(super) p50_ns: f64,
    pub(super) p99_ns: f64,
    pub(super) rss_bytes: f64,
    pub(super) in_flight: f64,
}

const LAST: usize = COUNT - 1;
/// The connections of the sweep.
const SWEPT: [u32; 4] = [10, 50, 200, 800];
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
    for (place, connections) in SWEPT.into_iter().enumerate() {
        // A request costs more with more connections, and more so over HTTP/1.1.
        let [http, grpc] = [[1.0, 1.04, 1.15, 1.38], [1.0, 1.02, 1.07, 1.16]].map(|times| times[place]);
        let scenario = [
            "weather-sweep-c10",
            "weather-sweep-c50",
            "weather-sweep-c200",
            "weather-sweep-c800",
        ][place];
        all.push(made(
            [scenario, "http", "h2load", "http"],
            0.010,
            swept(connections, http, &HTTP_H2LOAD),
        ));
        all.push(made(
            [scenario, "grpc", "h2load", "grpc"],
            0.011,
            swept(connections, grpc, &GRPC_H2LOAD),
        ));
    }
    all.push(made(["weather-capacity", "http", "h2load", "http"], 0.010, HTTP_H2LOAD));
    all.push(made(["weather-capacity", "grpc", "h2load", "grpc"], 0.011, GRPC_H2LOAD));
    for one in &mut all {
        match (one.scenario, one.server, one.driver) {
            ("weather-fixed-count", "grpc-multi", "h2load") => one.from = COUNT - 3,
            ("weather-fixed-duration", ..) => one.to = 188,
            // Sweeps and searches are measured by the newest run only.
            _ if one.is_sweep_or_search() => one.from = LAST,
            ("count-weather", ..) => one.from = COUNTED_FROM,
            _ => {}
        }
    }
    all.sort_by_key(Made::id);
    all
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

const fn load(at_once: [u32; 2], throughput: f64, server_ns: [f64; 2], driver_ns: [f64; 2], rest: [f64; 4]) -> Kind {
    let [p50_ns, p99_ns, rss_bytes, in_flight] = rest;
    Kind::Load(Load {
        connections: at_once[0],
        streams: at_once[1],
        throughput,
        server_ns,
        driver_ns,
        p50_ns,
        p99_ns,
        rss_bytes,
        in_flight,
    })
}

/// A load like another one, but with this number of connections, where a request costs `times` as much.
fn swept(connections: u32, times: f64, like: &Kind) -> Kind {
    let Kind::Load(like) = like else {
        return Kind::Starts(0.0);
    };
    let workers = f64::from(connections) / f64::from(like.connections);
    Kind::Load(Load {
        connections,
        streams: 1,
        throughput: like.throughput / times,
        server_ns: like.server_ns.map(|ns| ns * times),
        driver_ns: like.driver_ns,
        p50_ns: like.p50_ns * workers * times,
        p99_ns: like.p99_ns * workers * times,
        rss_bytes: like.rss_bytes * (0.8 + 0.2 * workers),
        in_flight: like.in_flight,
    })
}

// Levels resemble results/reference: connections and streams, requests/s, CPU per request, p50, p99, peak RSS, share in flight.
const HTTP_HEY: Kind = load(
    [100, 1],
    29_800.0,
    [5_290.0, 12_080.0],
    [21_500.0, 11_700.0],
    [3.22e6, 8.44e6, 6.59e6, 0.991],
);
const HTTP_H2LOAD: Kind = load(
    [100, 1],
    78_300.0,
    [4_190.0, 8_010.0],
    [2_020.0, 9_820.0],
    [1.17e6, 3.11e6, 6.49e6, 0.993],
);
const GRPC_GHZ: Kind = load(
    [100, 1],
    22_490.0,
    [13_530.0, 14_630.0],
    [30_200.0, 13_700.0],
    [3.60e6, 11.8e6, 8.41e6, 0.894],
);
const GRPC_H2LOAD: Kind = load(
    [100, 1],
    62_400.0,
    [6_830.0, 7_530.0],
    [3_260.0, 10_400.0],
    [1.30e6, 2.31e6, 8.22e6, 0.876],
);
const MULTI_GHZ: Kind = load(
    [100, 1],
    25_300.0,
    [12_390.0, 12_590.0],
    [27_300.0, 11_900.0],
    [3.41e6, 11.3e6, 7.93e6, 0.887],
);
const MULTI_H2LOAD: Kind = load(
    [100, 1],
    49_600.0,
    [8_400.0, 10_300.0],
    [4_520.0, 12_300.0],
    [1.76e6, 7.84e6, 8.01e6, 0.884],
);
const DURATION_HEY: Kind = load(
    [10, 1],
    31_450.0,
    [5_560.0, 11_650.0],
    [18_900.0, 12_500.0],
    [0.296e6, 1.03e6, 3.73e6, 0.999],
);
const STREAMS_HTTP: Kind = load(
    [1, 50],
    116_300.0,
    [3_910.0, 802.0],
    [1_630.0, 1_990.0],
    [0.359e6, 0.567e6, 3.69e6, 0.866],
);
const STREAMS_GRPC: Kind = load(
    [1, 50],
    77_460.0,
    [6_580.0, 599.0],
    [2_290.0, 3_030.0],
    [0.538e6, 0.865e6, 4.43e6, 0.885],
);
const STREAMS_MULTI: Kind = load(
    [1, 50],
    68_560.0,
    [7_390.0, 7_090.0],
    [2_930.0, 8_510.0],
    [0.703e6, 1.44e6, 4.32e6, 0.979],
);

const COUNTS_HTTP: [(Metric, f64); 10] = counts([
    15_606.25,
    37.0,
    2_391.0,
    4.0,
    163.0,
    118.0,
    1.0,
    70.0,
    8_493_464.0,
    2_913_224.0,
]);
const COUNTS_GRPC: [(Metric, f64); 10] = counts([
    45_055.5,
    101.0,
    9_120.0,
    6.0,
    121.0,
    98.0,
    1.0,
    25.0,
    9_210_112.0,
    3_120_443.0,
]);
const COUNTS_MULTI: [(Metric, f64); 10] = counts([
    48_310.75,
    104.0,
    9_344.0,
    7.0,
    121.0,
    98.0,
    1.0,
    25.0,
    9_214_208.0,
    3_412_087.0,
]);

const fn counts(values: [f64; 10]) -> [(Metric, f64); 10] {
    let mut all = [(Metric::Instructions, 0.0); 10];
    let mut place = 0;
    while place < all.len() {
        all[place] = (Metric::COUNTED[place], values[place]);
        place += 1;
    }
    all
}
