//! Metrics by name on the command line.

use wirebench_record::metric::Metric;

/// The metric of that name.
pub(crate) fn metric(name: &str) -> Result<Metric, String> {
    let known = || Metric::all().chain([Metric::DriverCpu]);
    known().find(|metric| metric.name() == name).ok_or_else(|| {
        let names: Vec<&str> = known().map(Metric::name).collect();
        format!("expected one of {}", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_named_as_in_every_file() {
        assert_eq!(metric("latency_p50"), Ok(Metric::LatencyP50));
        assert_eq!(metric("wire_bytes_sent"), Ok(Metric::WireBytesSent));
        assert!(metric("cpu").unwrap_err().contains("server_cpu"));
    }
}
