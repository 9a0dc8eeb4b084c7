//! Joins the latencies of 100 load pods, 1,000,000 each, and prints time and memory: `cargo bench --package wirebench-cluster`.
//! Fails if a quantile is not that of one list of all of them.

use std::fs;
use std::time::Instant;

use wirebench_cluster::Runs;
use wirebench_record::run::Latency;

const PODS: u64 = 100;
const EACH: u64 = 1_000_000;

/// The latencies of one pod, ns: the same for every call, most of them near one millisecond, some hundred times as long.
fn latencies(pod: u64) -> impl Iterator<Item = u64> {
    let mut state = 0x9e37_79b9_7f4a_7c15 ^ (pod + 1).wrapping_mul(0xd134_2543_de82_ef95);
    (0..EACH).map(move |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let long = if state.is_multiple_of(97) { 100 } else { 1 };
        (500_000 + state % 1_000_003 + pod * 1_000) * long
    })
}

/// The largest resident memory of this process so far, MiB; `None` where /proc does not say.
fn peak_mib() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<u64>().ok()? / 1024)
}

fn joined() -> std::io::Result<Option<Latency>> {
    let mut runs = Runs::new()?;
    for pod in 0..PODS {
        runs.add(latencies(pod).collect())?;
    }
    assert_eq!(runs.count(), PODS * EACH, "no latency may be lost");
    runs.latency()
}

/// By the definition of nearest rank: enough values are at most `found`, and not enough are below it. One pod at a time.
fn check(permille: u64, found: u64) {
    let rank = (PODS * EACH * permille).div_ceil(1000);
    let (mut at_most, mut below) = (0, 0);
    for latency in (0..PODS).flat_map(latencies) {
        at_most += u64::from(latency <= found);
        below += u64::from(latency < found);
    }
    assert!(
        below < rank && rank <= at_most,
        "p{permille}: {found} ns is not number {rank}"
    );
}

fn main() -> std::io::Result<()> {
    let started = Instant::now();
    let latency = joined()?.expect("there are latencies");
    let seconds = started.elapsed().as_secs_f64();
    let memory = peak_mib().map_or_else(|| "unknown".into(), |mib| format!("{mib} MiB"));
    for (permille, found) in [
        (500, latency.p50),
        (900, latency.p90),
        (990, latency.p99),
        (999, latency.p999),
    ] {
        check(permille, found);
    }
    let line = format!(
        "{PODS} outputs of {EACH} latencies: {seconds:.1} s, at most {memory}; p50 {} ns, p99 {} ns\n",
        latency.p50, latency.p99
    );
    std::io::Write::write_all(&mut std::io::stdout(), line.as_bytes())
}
