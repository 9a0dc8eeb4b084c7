//! The finding for a claim, in words.

use crate::claims::judged::{Finding, SizeKind, TestedClaim};

use wirebench_present::report::format::three_digits;

/// A finding in words.
const fn finding(finding: Finding) -> &'static str {
    match finding {
        Finding::Holds => "✓ holds",
        Finding::Contradicted => "✗ reversed here",
        Finding::Reverses => "⇄ reversed on equal terms",
        Finding::Vanishes => "≈ vanishes on equal terms",
        Finding::HoldsOnEqualTermsOnly => "✓ holds on equal terms only",
        Finding::FarSmallerIfAny => "○ far smaller, if any",
        Finding::CannotTell => "? can't tell",
        Finding::NotMeasured => "– not measured",
    }
}

/// The finding for a claim; with both ratios if it holds with another size or is reversed.
pub(crate) fn tested(tested: &TestedClaim) -> String {
    let words = finding(tested.finding);
    if tested.is_of_equality() {
        return match tested.finding {
            Finding::Contradicted | Finding::Reverses => "✗ not equal here".into(),
            Finding::Holds => "✓ holds: equal within 10 %".into(),
            _ => words.into(),
        };
    }
    if let Some(size) = tested.size() {
        let sizes = of(size.ours, size.claimed);
        return match size.kind {
            SizeKind::FarSmaller => format!("~ same direction, far smaller: {sizes}"),
            SizeKind::Smaller => format!("{words}, smaller: {sizes}"),
            SizeKind::Larger => format!("{words}, larger: {sizes}"),
        };
    }
    let shown = match tested.finding {
        Finding::Contradicted => &tested.theirs,
        Finding::Reverses => &tested.equal,
        _ => return words.into(),
    };
    let ours = shown.as_ref().and_then(|shown| shown.times);
    match ours.zip(tested.claimed()) {
        Some((ours, claimed)) => format!("{words}: {}", of(ours.times, claimed)),
        None => words.into(),
    }
}

fn of(ours: f64, claimed: f64) -> String {
    let [ours, claimed] = [ours, claimed].map(three_digits);
    format!("× {ours} of × {claimed}")
}
