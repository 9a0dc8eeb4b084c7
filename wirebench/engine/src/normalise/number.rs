//! Rounding for the numbers of failed checks.

/// Rounds a value, and limits it to the range of `u32`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to the type's range first"
)]
pub(super) fn whole(value: f64) -> u32 {
    value.round().clamp(0.0, f64::from(u32::MAX)) as u32
}
