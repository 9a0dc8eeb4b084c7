//! System calls that only the candidate makes: reported however rare they are, because a call that blocks in few requests
//! does not change the total.

use crate::compare::functions::with_caller;
use wirebench_record::comparison::FunctionChange;
use wirebench_record::counts::{BLOCKING_CALLS, Counts};
use wirebench_record::metric::Metric;
use wirebench_record::reason::MetricReason;

/// Calls that the candidate makes per request and the baseline does not, the most frequent first.
fn new_calls<'a>(baseline: &'a Counts, candidate: &'a Counts) -> Vec<(&'a str, f64)> {
    // Without a list of the baseline's calls, every call would look new.
    if baseline.syscalls.is_empty() {
        return Vec::new();
    }
    let absent = |name: &str| baseline.syscalls.get(name).is_none_or(|calls| *calls <= 0.0);
    let mut calls: Vec<(&str, f64)> = (candidate.syscalls.iter())
        .map(|(name, calls)| (name.as_str(), *calls))
        .filter(|(name, calls)| *calls > 0.0 && absent(name))
        .collect();
    calls.sort_by(|one, other| other.1.total_cmp(&one.1));
    calls
}

/// Why the number of system calls cannot be called unchanged: a new call blocks requests. `None` if no new call does.
pub(super) fn blocking(baseline: &Counts, candidate: &Counts) -> Option<MetricReason> {
    let (name, calls) = (new_calls(baseline, candidate).into_iter()).find(|(name, _)| BLOCKING_CALLS.contains(name))?;
    Some(MetricReason::NewBlockingCall {
        call: name.to_owned(),
        per_request: calls,
    })
}

/// Adds the new calls that are not listed yet.
pub(super) fn add_to_list(baseline: &Counts, candidate: &Counts, functions: &mut Vec<FunctionChange>) {
    let whole = baseline.value(Metric::Syscalls).map_or(0.0, |(value, _)| value);
    for (name, calls) in new_calls(baseline, candidate) {
        let listed = |one: &FunctionChange| one.metric == Metric::Syscalls && one.function == name;
        if !functions.iter().any(listed) {
            let change = FunctionChange {
                metric: Metric::Syscalls,
                function: name.to_owned(),
                baseline: 0.0,
                candidate: calls,
                share_percent: if whole > 0.0 { calls / whole * 100.0 } else { 100.0 },
                own_code: false,
                caller: None,
                source: None,
            };
            functions.push(with_caller(change, baseline, candidate));
        }
    }
}
