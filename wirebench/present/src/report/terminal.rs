//! The table that a terminal shows when a run ends.

use askama::Template;

use crate::report::escape::TERMINAL;
use crate::report::format::other_hosts;
use crate::report::head_to_head::{self, BOUNDS};
use crate::report::run_view::{headline, is_unmeasured, not_good};
use crate::report::{counts, limits, scenario};
use wirebench_judge::limits::judge;
use wirebench_judge::summary::{Section, sections};
use wirebench_record::run::Run;

#[derive(Template)]
#[template(path = "run.txt")]
struct Text<'a> {
    run: &'a Run,
    sections: Vec<Section<'a>>,
    width: Option<u16>,
}

/// The run as text; `width` is the terminal's, `None` means unlimited.
pub fn render(run: &Run, width: Option<u16>) -> String {
    let sections = sections(run);
    let text = Text { run, sections, width };
    text.render().expect("the template only writes into a string")
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
