//! What became of a claim, in words.

use wirebench_judge::claims::{Finding, Tested};

use crate::report::format::three_digits;

/// A finding in words.
pub(super) const fn finding(finding: Finding) -> &'static str {
    match finding {
        Finding::Holds => "✓ holds",
        Finding::Reverses => "⇄ reverses on equal terms",
        Finding::Vanishes => "≈ vanishes on equal terms",
        Finding::Contradicted => "✗ the other way round here",
        Finding::HoldsOnEqualTermsOnly => "⇄ holds on equal terms only",
        Finding::CannotTell => "? can't tell",
        Finding::NotMeasured => "– not measured",
    }
}

/// What became of a claim; of one that holds with another size, both ratios.
pub(super) fn tested(tested: &Tested) -> String {
    match tested.size() {
        None => finding(tested.finding).into(),
        Some(size) => {
            let kind = if size.is_smaller { "smaller" } else { "larger" };
            let [ours, claimed] = [size.ours, size.claimed].map(three_digits);
            format!("✓ holds, {kind}: × {ours} of × {claimed}")
        }
    }
}
