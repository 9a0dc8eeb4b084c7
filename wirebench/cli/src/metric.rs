//! Metrics by name on the command line.

use wirebench_record::metric::Metric;

/// The metric of that name.
pub(super) fn metric(name: &str) -> Result<Metric, String> {
    Metric::known().find(|metric| metric.name() == name).ok_or_else(|| {
        let names: Vec<&str> = Metric::known().map(Metric::name).collect();
        format!("expected one of {}", names.join(", "))
    })
}
