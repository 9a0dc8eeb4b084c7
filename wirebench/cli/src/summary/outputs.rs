//! The outputs of a workflow step: `name=value` lines for GITHUB_OUTPUT.

use std::path::Path;

use wirebench_record::comparison::Comparison;

/// `verdict=`, `run=` and `report=`, each on a line.
///
/// # Errors
/// When a value has more than one line: a line break could add further outputs.
pub(super) fn lines(comparison: Option<&Comparison>, folder: &Path) -> anyhow::Result<String> {
    let verdict = comparison.map_or("none".into(), |comparison| word(&comparison.verdict));
    let mut out = line("verdict", Some(&verdict))?;
    out.push_str(&line("run", folder.to_str())?);
    out.push_str(&line("report", folder.join("report.md").to_str())?);
    Ok(out)
}

/// A verdict as written in the record.
fn word(verdict: &impl serde::Serialize) -> String {
    let value = serde_json::to_value(verdict).ok();
    let word = value.as_ref().and_then(serde_json::Value::as_str);
    word.unwrap_or("none").to_owned()
}

fn line(name: &str, value: Option<&str>) -> anyhow::Result<String> {
    let value = value.filter(|value| !value.contains(|c: char| c.is_control()));
    value.map(|value| format!("{name}={value}\n")).ok_or_else(|| {
        anyhow::anyhow!("the output {name} would not be one line of text; give the run's folder a plain name")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_testing::golden;

    #[test]
    fn three_lines_are_passed_on() {
        let folder = Path::new("/runs/1");
        let none = lines(None, folder).unwrap();
        assert_eq!(none, "verdict=none\nrun=/runs/1\nreport=/runs/1/report.md\n");
        let regressed = lines(Some(&golden("regressed")), folder).unwrap();
        assert!(regressed.starts_with("verdict=regressed\n"), "{regressed}");
    }

    #[test]
    fn a_value_of_two_lines_is_refused() {
        for name in ["a\nverdict=unchanged", "a\rb", "a\u{0}b"] {
            assert!(lines(None, Path::new(name)).is_err(), "{name:?}");
        }
    }
}
