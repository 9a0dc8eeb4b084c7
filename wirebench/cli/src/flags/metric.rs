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
