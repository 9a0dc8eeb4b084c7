//! The chart of a comment: a bar for each change, as a Mermaid `xychart-beta`, which GitHub draws. The table below it has the
//! same numbers.
//!
//! Such a chart draws every bar from the edge of its axis, whatever its sign: the bar shows the size of a change, and its label
//! the direction.

use std::fmt::Write as _;

use wirebench_judge::summary::comparison::{Findings, Row};

/// The most bars.
const BARS: usize = 12;
/// The most characters of a bar's label.
const LABEL: usize = 48;
/// Smaller changes have no bar, percent.
const SMALLEST: f64 = 0.005;
/// Longer bars end here, percent.
const LONGEST: f64 = 1000.0;

/// The chart of the gating metrics, the most alarming first; `None` if no change is large enough for a bar.
#[must_use]
pub fn mermaid(findings: &Findings) -> Option<String> {
    let is_visible = |bar: &(String, f64)| bar.1.abs() >= SMALLEST;
    let mut bars: Vec<(String, f64)> = findings
        .gating
        .iter()
        .filter_map(bar)
        .filter(is_visible)
        .take(BARS)
        .collect();
    make_unique(&mut bars);
    let largest = bars.iter().map(|(_, percent)| percent.abs()).fold(0.0, f64::max);
    if bars.is_empty() {
        return None;
    }
    let labels: Vec<String> = bars.iter().map(|(label, _)| format!("\"{label}\"")).collect();
    let sizes: Vec<String> = bars
        .iter()
        .map(|(_, percent)| format!("{:.2}", percent.abs().min(LONGEST)))
        .collect();
    let height = 120 + 34 * bars.len();
    let mut out = String::from("```mermaid\n");
    let _ = writeln!(
        out,
        "%%{{init: {{\"xyChart\": {{\"width\": 820, \"height\": {height}}}, \"themeVariables\": {{\"xyChart\": \
         {{\"plotColorPalette\": \"#4f7cac\"}}}}}}}}%%"
    );
    let _ = writeln!(out, "xychart-beta horizontal");
    let _ = writeln!(out, "  title \"change of the gating metrics, by size\"");
    let _ = writeln!(out, "  x-axis [{}]", labels.join(", "));
    let _ = writeln!(out, "  y-axis \"change, percent\" 0 --> {}", axis(largest));
    let _ = writeln!(out, "  bar [{}]", sizes.join(", "));
    out.push_str("```\n\n");
    Some(out)
}

/// A row's label and its change, percent; `None` without a change in percent.
fn bar(row: &Row) -> Option<(String, f64)> {
    let metric = row.metric?;
    let effect = metric.effect_percent?;
    let direction = if effect > 0.0 { "up" } else { "down" };
    Some((
        label(&row.series.id, &format!("{} {direction}", metric.metric.short())),
        effect,
    ))
}

/// Numbers equal labels: bars with one label would be drawn as one.
fn make_unique(bars: &mut [(String, f64)]) {
    for place in 1..bars.len() {
        let (before, rest) = bars.split_at_mut(place);
        let label = &mut rest[0].0;
        let name = label.clone();
        let mut number = 1;
        while before.iter().any(|(known, _)| known == label) {
            number += 1;
            *label = format!("{name} ({number})");
        }
    }
}

/// `count-weather@http instructions up`: without the driver, and a long name is cut at its end.
fn label(series: &str, metric: &str) -> String {
    let allowed = |c: &char| c.is_ascii_alphanumeric() || *c == '-' || *c == '@';
    let name = series.rsplit_once('@').map_or(series, |(name, _driver)| name);
    let room = LABEL.saturating_sub(metric.len() + 1);
    let name: String = name.chars().filter(allowed).collect();
    let name = if name.len() <= room {
        name
    } else {
        format!("{}..", &name[..room.saturating_sub(2)])
    };
    format!("{name} {metric}")
}

/// The end of the axis: a round number not far above the longest bar.
fn axis(largest: f64) -> f64 {
    const ENDS: [f64; 17] = [
        0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 30.0, 50.0, 100.0, 200.0, 300.0, 500.0, LONGEST,
    ];
    ENDS.into_iter().find(|end| *end >= largest).unwrap_or(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_testing::golden;

    #[test]
    fn bars_are_as_long_as_the_change_and_say_which_way_it_went() {
        let mut comparison = golden("counted-regressed");
        let chart = mermaid(&Findings::of(&comparison)).unwrap();
        let axis = "x-axis [\"count-weather@http instructions up\", \"count-weather@http bytes sent up\", \
                    \"count-weather@http allocations down\", \"count-weather@grpc instructions up\"]\n";
        assert!(chart.contains(axis), "{chart}");
        assert!(chart.contains("0 --> 3\n  bar [1.03, 0.61, 2.70, 0.04]\n"), "{chart}");
        comparison.series[0].id = "a\"]\n```<b>@evil-[x]@hey".into();
        let chart = mermaid(&Findings::of(&comparison)).unwrap();
        assert!(
            chart.contains("\"ab@evil-x instructions up\"") && !chart.contains('<'),
            "{chart}"
        );
    }

    #[test]
    fn no_bar_is_longer_than_its_axis_and_no_two_have_one_label() {
        let mut comparison = golden("regressed");
        for series in &mut comparison.series {
            series.id = "a@http@".to_owned() + series.id.rsplit('@').next().unwrap();
            for metric in &mut series.metrics {
                metric.effect_percent = Some(2000.0);
            }
        }
        let chart = mermaid(&Findings::of(&comparison)).unwrap();
        let axis = "[\"a@http server CPU up\", \"a@http server CPU up (2)\", \"a@http server CPU up (3)\"]";
        assert!(chart.contains(axis), "{chart}");
        assert!(
            chart.contains("0 --> 1000\n  bar [1000.00, 1000.00, 1000.00]\n"),
            "{chart}"
        );
    }

    #[test]
    fn there_is_no_picture_of_nothing() {
        let mut comparison = golden("unchanged");
        for metric in comparison.series.iter_mut().flat_map(|series| &mut series.metrics) {
            metric.effect_percent = Some(0.001);
        }
        assert_eq!(mermaid(&Findings::of(&comparison)), None);
        comparison.series.clear();
        assert_eq!(mermaid(&Findings::of(&comparison)), None);
    }

    #[test]
    fn labels_fit_beside_the_bars() {
        let label = label(&format!("{}@http@hey", "a".repeat(100)), "bytes received");
        assert!(label.len() <= LABEL && label.ends_with(".. bytes received"), "{label}");
    }
}
