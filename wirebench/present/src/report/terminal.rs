//! The table that a terminal shows when a run ends.

use std::fmt::Write as _;

use crate::report::escape::TERMINAL;
use crate::report::run_view::RunView;
use crate::report::{head_to_head, limits};
use wirebench_record::run::Run;

/// The run as text; `width` is the terminal's, `None` means unlimited.
pub fn render(run: &Run, width: Option<u16>) -> String {
    let view = RunView::of(run, &[], TERMINAL);
    if view.is_unmeasured {
        return format!("\n{}\n", view.headline);
    }
    let mut out = String::new();
    for scenario in &view.scenarios {
        let _ = write!(out, "\n{}\n{}", scenario.name, scenario.series.terminal(width));
    }
    if let Some(others) = &view.other_hosts {
        let _ = writeln!(out, "\n{others}");
    }
    out += &head_to_head::terminal(&view.head_to_head, width);
    out += &view.counts.terminal(width);
    out += &limits::terminal(&view.limits);
    if !view.not_good.is_empty() {
        out += "\nNot every round is good:\n";
    }
    for [series, reason] in &view.not_good {
        let _ = writeln!(out, "  {series}: {reason}");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::render;
    use wirebench_record::run::Run;

    #[test]
    fn a_run_of_the_same_program_is_one_sentence() {
        let text = include_str!("../../../../results/reference/run.json");
        let mut run: Run = serde_json::from_str(text).unwrap();
        for series in &mut run.series {
            (series.same_program, series.rounds, series.counts) = (true, Vec::new(), Vec::new());
        }
        let text = render(&run, None);
        assert_eq!(text.trim().lines().count(), 1, "{text}");
        assert!(text.contains("the same program on both sides"), "{text}");
        run.series[0].same_program = false;
        assert!(render(&run, None).lines().count() > 10);
    }

    #[test]
    fn a_narrow_terminal_gets_fewer_columns_not_broken_lines() {
        let text = include_str!("../../../../results/reference/run.json");
        let run: Run = serde_json::from_str(text).unwrap();
        let (wide, narrow) = (render(&run, None), render(&run, Some(80)));
        assert!(wide.contains("memory") && !narrow.contains("memory"));
        assert_eq!(
            wide.lines().count(),
            narrow.lines().count(),
            "a line was broken:\n{narrow}"
        );
    }
}
