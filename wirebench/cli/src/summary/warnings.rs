//! Warnings that GitHub shows at changed lines: one for each function of the project that carries a regressed count.

use std::collections::BTreeSet;
use std::path::Path;

use crate::summary::changed::Changed;
use wirebench_judge::summary::comparison::{Findings, Row, RowStatus};
use wirebench_present::report::comparison::cells::effect;
use wirebench_present::report::comparison::functions;
use wirebench_present::report::format::{plain, shortened};
use wirebench_record::comparison::{Comparison, FunctionChange};

/// The most warnings of one run.
const AT_MOST: usize = 5;

/// Workflow commands `::warning file=…,line=…::…` for functions that cost more than before and whose line the change
/// touches, the largest change first.
pub(super) fn lines(comparison: &Comparison, root: &Path) -> Vec<String> {
    let Some(mut changed) = Changed::between(comparison, root) else {
        return Vec::new();
    };
    let findings = Findings::of(comparison);
    let mut said = BTreeSet::new();
    let mut lines = Vec::new();
    for row in findings.gating_that(RowStatus::Regressed) {
        for function in row.functions().filter(|one| one.candidate > one.baseline) {
            let Some(source) = &function.source else { continue };
            let place = (source.file.as_str(), source.line);
            if lines.len() < AT_MOST && !said.contains(&place) && changed.holds(source) {
                said.insert(place);
                lines.extend(warning(row, function));
            }
        }
    }
    lines
}

fn warning(row: &Row, function: &FunctionChange) -> Option<String> {
    let (metric, source) = (row.metric?, function.source.as_ref()?);
    let message = format!(
        "{}: {} {}, of which {} in {}",
        name(&row.series.id),
        metric.metric.label(),
        effect(metric),
        functions::change(function),
        name(&function.function)
    );
    Some(format!(
        "::warning file={},line={},title={}::{}",
        property(&source.file),
        source.line,
        property(&format!("wirebench: {} regressed", metric.metric.label())),
        data(&message)
    ))
}

fn name(text: &str) -> String {
    shortened(&plain(text), 120)
}

/// Escapes the text after the last `::` of a workflow command, which ends at a line break.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes the value of a property of a workflow command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_a_command_or_a_property_early() {
        assert_eq!(
            property("a%b:c,d\r\n::error::x"),
            "a%25b%3Ac%2Cd%0D%0A%3A%3Aerror%3A%3Ax"
        );
        assert_eq!(data("50 %\n::set-output name=x::y"), "50 %25%0A::set-output name=x::y");
    }
}
