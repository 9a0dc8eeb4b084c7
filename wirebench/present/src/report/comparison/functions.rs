//! The functions that carry a change of a count, in words: which one most, and each with its own change.

use crate::report::comparison::words::{Inert, signed};
use crate::report::format::number;
use wirebench_judge::summary::comparison::Row;
use wirebench_record::comparison::FunctionChange;
use wirebench_record::counts::Source;
use wirebench_record::metric::Metric;

/// `+165 instructions per request (+1.0 %)`: the share is of the baseline's whole.
pub fn change(function: &FunctionChange) -> String {
    let difference = function.candidate - function.baseline;
    let sign = if difference < 0.0 { '−' } else { '+' };
    let unit = function.metric.unit().trim_end_matches('s');
    let size = number(difference.abs());
    let plural = if size == "1" { "" } else { "s" };
    format!(
        "{sign}{size} {unit}{plural} per request ({} %)",
        signed(function.share_percent)
    )
}

/// Who makes a system call, and where the function is: `, called from shop::price, src/price.rs:12`; empty when neither is
/// known. `name` makes names inert.
pub fn origin(function: &FunctionChange, name: Inert) -> String {
    let caller = function.caller.as_deref();
    let caller = caller.map_or_else(String::new, |caller| format!(", called from {}", name(caller)));
    caller + &place(function.source.as_ref(), name)
}

/// Where a function is in the project's own sources, after what is said of it: `, src/price.rs:12`; empty when that is not
/// known. `name` makes it inert.
fn place(source: Option<&Source>, name: Inert) -> String {
    source.map_or_else(String::new, |source| {
        format!(", {}", name(&format!("{}:{}", source.file, source.line)))
    })
}

/// The function to blame, with how much of the metric's change it carries: `most of it in NAME`; none where no function is
/// known. `name` makes names inert.
pub fn leading(row: &Row, name: Inert) -> Option<String> {
    let metric = row.metric?;
    let whole = metric.candidate? - metric.baseline?;
    let of = |function: &FunctionChange| function.candidate - function.baseline;
    let first = row.functions().find(|function| of(function) * whole > 0.0)?;
    let word = if of(first) / whole > 0.5 {
        "most of it"
    } else {
        "first of all"
    };
    let caller = first.caller.as_deref();
    let caller = caller.map_or_else(String::new, |caller| format!(", called from {}", name(caller)));
    Some(format!("{word} in {}{caller}", name(&first.function)))
}

/// What a list of a row's functions is headed with.
pub fn head(row: &Row, name: Inert) -> String {
    let label = row.metric.map_or("", |metric| metric.metric.label());
    let what = match row.functions().next() {
        Some(call) if call.metric == Metric::Syscalls => "the calls whose number changed most",
        Some(_) if row.functions().any(|function| function.own_code) => {
            "the functions that changed most: the project's own with what they call in other code, then others by themselves"
        }
        Some(_) => "the functions whose own cost changed most",
        None => "no function's cost changed by more than the spread",
    };
    format!("{} {label}, {what}", name(&row.series.id))
}
