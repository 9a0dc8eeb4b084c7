//! The first numbers of a history that is too short for verdicts: server CPU time of a request, a bar a series, by scenario.

use crate::report::format::time;
use crate::site::head_to_head::{class, cpu_sentence};
use crate::site::shown::name;
use crate::site::svg::{Anchor, Path, Picture, Svg};
use wirebench_judge::summary::{Row, Section, sections};
use wirebench_record::metric::Metric;
use wirebench_record::run::Run;

/// What the newest run measured.
#[derive(Debug)]
pub(super) struct FirstNumbers {
    /// What gRPC costs compared with HTTP, if one load generator loaded both.
    pub(super) answer: Option<String>,
    pub(super) picture: Picture,
}

const WIDTH: f64 = 366.0;
/// Where the names of series end, and the room for the values at the right, px.
const NAMES: f64 = 110.0;
const VALUES: f64 = 60.0;
const LINE: f64 = 18.0;
/// Bars that are drawn.
const MOST: usize = 40;

/// A series with its CPU time of a request, ns.
type Bar<'a> = (&'a str, String, &'static str, f64);

impl FirstNumbers {
    /// `None` if no series of the run has a CPU time of a request.
    pub(super) fn of(run: &Run) -> Option<Self> {
        let sections = sections(run);
        let bars: Vec<Bar> = sections.iter().flat_map(bars).take(MOST).collect();
        let longest = bars.iter().map(|(.., ns)| *ns).fold(0.0, f64::max);
        (longest > 0.0).then(|| Self {
            answer: cpu_sentence(&sections),
            picture: draw(&bars, longest),
        })
    }
}

fn bars<'a>(section: &Section<'a>) -> Vec<Bar<'a>> {
    let bar = |row: &Row<'a>| {
        let series = row.series;
        let label = format!("{} · {}", name(&series.server), name(&series.driver));
        Some((
            section.scenario,
            label,
            class(&series.protocol),
            row.median(Metric::ServerCpu)?,
        ))
    };
    section.rows.iter().filter_map(bar).collect()
}

fn draw(bars: &[Bar], longest: f64) -> Picture {
    let scenarios: Vec<&[Bar]> = bars.chunk_by(|one, next| one.0 == next.0).collect();
    let height = LINE * (bars.len() + scenarios.len()) as f64;
    let mut svg = Svg::new(WIDTH, height);
    let mut top = 0.0;
    for scenario in scenarios {
        svg.text("scenario", (0.0, top + 13.0), Anchor::Start, &name(scenario[0].0));
        for (_, label, class, ns) in scenario {
            top += LINE;
            let end = NAMES + (WIDTH - NAMES - VALUES) * ns / longest;
            svg.text("name", (NAMES - 6.0, top + 13.0), Anchor::End, label);
            let mut bar = Path::default();
            bar.through([(NAMES, top + 9.0), (end, top + 9.0)]);
            svg.path(&format!("bar {class}"), &bar, "");
            svg.text("value", (end + 4.0, top + 13.0), Anchor::Start, &time(*ns));
        }
        top += LINE;
    }
    let said = bars
        .iter()
        .map(|(scenario, label, _, ns)| format!("{} {label} {}", name(scenario), time(*ns)));
    let alt = format!("Server CPU time of a request: {}", said.collect::<Vec<_>>().join(", "));
    svg.finish("first-numbers", &alt)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::samples;

    #[test]
    fn every_loaded_series_has_a_bar_in_its_protocols_colour_and_one_sentence_compares_them() {
        let run = samples::reference();
        let first = FirstNumbers::of(&run).unwrap();
        let picture = first.picture.to_string();
        let loaded: usize = sections(&run).iter().map(|section| bars(section).len()).sum();
        assert_eq!(picture.matches("class=\"bar ").count(), loaded);
        assert!(picture.contains("class=\"bar http\"") && picture.contains("class=\"bar grpc\""));
        assert!(first.answer.unwrap().starts_with("A gRPC request costs "));
    }

    #[test]
    fn a_run_without_cpu_times_has_no_bars() {
        let mut run = samples::reference();
        run.series.clear();
        assert!(FirstNumbers::of(&run).is_none());
    }
}
