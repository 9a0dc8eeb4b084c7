//! `report.md`: what was measured, in tables and pictures, with all that is needed to repeat it.

use askama::Template;

use crate::report::charts::Chart;
use crate::report::head_to_head::BOUNDS;
use crate::report::limits;
use crate::report::run_view::RunView;
use wirebench_record::run::Run;

#[derive(Template)]
#[template(path = "run.md")]
struct Report<'a> {
    run: RunView<'a>,
}

/// The run as Markdown; `charts` are in the folder `charts/` next to the file.
#[must_use]
pub fn render(run: &Run, charts: &[Chart]) -> String {
    let report = Report {
        run: RunView::of(run, charts),
    };
    report.render().expect("the template only writes into a string")
}
