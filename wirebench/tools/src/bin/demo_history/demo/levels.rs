//! How each series is measured, and its values at the first push.

use wirebench_record::metric::Metric;

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
pub(super) fn swept(connections: u32, times: f64, like: &Kind) -> Kind {
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
pub(super) const HTTP_HEY: Kind = load(
    [100, 1],
    29_800.0,
    [5_290.0, 12_080.0],
    [21_500.0, 11_700.0],
    [3.22e6, 8.44e6, 6.59e6, 0.991],
);
pub(super) const HTTP_H2LOAD: Kind = load(
    [100, 1],
    78_300.0,
    [4_190.0, 8_010.0],
    [2_020.0, 9_820.0],
    [1.17e6, 3.11e6, 6.49e6, 0.993],
);
pub(super) const GRPC_GHZ: Kind = load(
    [100, 1],
    22_490.0,
    [13_530.0, 14_630.0],
    [30_200.0, 13_700.0],
    [3.60e6, 11.8e6, 8.41e6, 0.894],
);
pub(super) const GRPC_H2LOAD: Kind = load(
    [100, 1],
    62_400.0,
    [6_830.0, 7_530.0],
    [3_260.0, 10_400.0],
    [1.30e6, 2.31e6, 8.22e6, 0.876],
);
pub(super) const MULTI_GHZ: Kind = load(
    [100, 1],
    25_300.0,
    [12_390.0, 12_590.0],
    [27_300.0, 11_900.0],
    [3.41e6, 11.3e6, 7.93e6, 0.887],
);
pub(super) const MULTI_H2LOAD: Kind = load(
    [100, 1],
    49_600.0,
    [8_400.0, 10_300.0],
    [4_520.0, 12_300.0],
    [1.76e6, 7.84e6, 8.01e6, 0.884],
);
pub(super) const DURATION_HEY: Kind = load(
    [10, 1],
    31_450.0,
    [5_560.0, 11_650.0],
    [18_900.0, 12_500.0],
    [0.296e6, 1.03e6, 3.73e6, 0.999],
);
pub(super) const STREAMS_HTTP: Kind = load(
    [1, 50],
    116_300.0,
    [3_910.0, 802.0],
    [1_630.0, 1_990.0],
    [0.359e6, 0.567e6, 3.69e6, 0.866],
);
pub(super) const STREAMS_GRPC: Kind = load(
    [1, 50],
    77_460.0,
    [6_580.0, 599.0],
    [2_290.0, 3_030.0],
    [0.538e6, 0.865e6, 4.43e6, 0.885],
);
pub(super) const STREAMS_MULTI: Kind = load(
    [1, 50],
    68_560.0,
    [7_390.0, 7_090.0],
    [2_930.0, 8_510.0],
    [0.703e6, 1.44e6, 4.32e6, 0.979],
);

pub(super) const COUNTS_HTTP: [(Metric, f64); 10] = counts([
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
pub(super) const COUNTS_GRPC: [(Metric, f64); 10] = counts([
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
pub(super) const COUNTS_MULTI: [(Metric, f64); 10] = counts([
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
