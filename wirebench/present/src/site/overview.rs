//! The first page: is anything worse right now? What changed since the newest release, by cause, and below it every value.

use askama::Template;

use crate::by_key;
use crate::report::cause::{Moved, answer};
use crate::report::format::{plural, time};
use crate::site::causes::{Cause, ChangePointView, causes};
use crate::site::frame::{Frame, STALE_DAYS, Site, SitePage};
use crate::site::gather::{Drawn, Source};
use crate::site::head_to_head::{class, cpu_sentence};
use crate::site::shown::{self, name};
use crate::site::svg::{Anchor, Markup, Path, Svg};
use wirebench_history::standing::{FEWEST_VALUES, Standing};
use wirebench_judge::summary::{Row, Section, sections};
use wirebench_record::metric::Metric;
use wirebench_record::run::Run;

pub(super) const PAGE: SitePage = SitePage::new("index.html", "Overview", render);

/// Cards of one source; the others are on the page of changes.
const CARDS: usize = 8;
/// A longer table of metrics is folded.
const OPEN: usize = 20;
/// Sparklines shown above a folded table.
const GLANCE: usize = 24;

#[derive(Template)]
#[template(path = "overview.html")]
struct Page<'a> {
    frame: Frame<'a>,
    /// The answer: what is worse, and since when.
    headline: String,
    class: &'static str,
    sources: Vec<SourceView<'a>>,
    /// What the newest run measured, until there are verdicts.
    first: Option<FirstNumbers>,
}

struct SourceView<'a> {
    source: &'a Source<'a>,
    causes: Vec<Cause<'a>>,
    /// Causes that have no card here.
    more: usize,
    /// Series without a good value in the newest run, by reason.
    broken: Vec<(String, Vec<Broken<'a>>)>,
    rows: Vec<&'a Drawn<'a>>,
}

/// The name of a series, its page and how many metrics have no good value; without these two if it never had a value.
type Broken<'a> = (&'a str, Option<(&'a String, usize)>);

impl SourceView<'_> {
    /// Sparklines for a page on which every table is folded.
    fn glance(&self) -> Vec<&Drawn<'_>> {
        if self.is_open() {
            return Vec::new();
        }
        let rows = self.rows.iter().copied();
        rows.filter(|drawn| !drawn.spark().is_empty()).take(GLANCE).collect()
    }

    /// The rows by what the names of imported benchmarks begin with; groups and rows with the worst first. Of the history's own
    /// runs, and where no two names begin alike, one group without a name.
    fn groups(&self) -> Vec<(&str, Vec<&Drawn<'_>>)> {
        let groups = by_key(self.rows.iter().map(|row| (prefix(&row.trace.series), *row)));
        let is_own = self.rows.iter().any(|row| row.trace.metric.is_some());
        if is_own || groups.len() < 2 || 2 * groups.len() > self.rows.len() {
            return vec![("", self.rows.clone())];
        }
        groups
    }

    /// Whether the table of every metric is seen at once.
    fn is_open(&self) -> bool {
        self.rows.len() <= OPEN
    }
}

/// How many of the metrics that are compared have each standing; the counts add up to all of them.
struct Tally {
    /// Class, number and word.
    counts: [(&'static str, usize, &'static str); 4],
    /// What the last count is made of, and what is not compared.
    rest: String,
}

impl Tally {
    fn of(source: &Source) -> Self {
        let count = |standing| source.count(standing);
        let others = [
            (Standing::Accepted, "worse and accepted"),
            (Standing::Fixed, "mostly fixed"),
            (Standing::Changed, "changed"),
            (Standing::Withheld, "without a good value in the newest run"),
        ];
        let apart = [
            (Standing::Few, "with too few values"),
            (Standing::Stopped, "no longer measured"),
        ];
        let words = |(standing, word): &(Standing, &str)| {
            let count = count(*standing);
            (count > 0).then(|| format!("{count} {word}"))
        };
        let parts = others.iter().filter_map(words).collect::<Vec<_>>().join(", ");
        let apart = apart.iter().filter_map(words).collect::<Vec<_>>().join(", ");
        let rest = [("Others: ", parts), ("Not compared: ", apart)];
        let rest = rest.into_iter().filter(|(_, words)| !words.is_empty());
        Self {
            counts: [
                ("worse", count(Standing::Worse), "worse"),
                ("better", count(Standing::Better), "better"),
                ("noise", count(Standing::Noise), "within noise"),
                ("", others.iter().map(|(standing, _)| count(*standing)).sum(), "others"),
            ],
            rest: rest.map(|(head, words)| format!("{head}{words}. ")).collect(),
        }
    }
}

/// What the name of an imported benchmark begins with: up to the first sign that ends a word.
fn prefix(name: &str) -> &str {
    let end = name.find([' ', '/', ':']).or_else(|| name.find('_'));
    end.filter(|end| *end > 0).map_or(name, |end| &name[..end])
}

fn render(frame: Frame) -> Result<String, askama::Error> {
    let site = frame.site;
    let sources: Vec<SourceView> = (site.sources.iter()).map(|source| source_view(site, source)).collect();
    let (headline, class) = headline(&sources);
    let is_early = site.sources.iter().all(|source| source.compared() == 0);
    let newest = site.input.runs.last().filter(|_| is_early);
    Page {
        frame,
        headline,
        class,
        sources,
        first: newest.and_then(|paged| FirstNumbers::of(&paged.run)),
    }
    .render()
}

/// What got worse last and is still open; else that nothing is worse, and what there is instead.
fn headline(sources: &[SourceView]) -> (String, &'static str) {
    let open = sources
        .iter()
        .flat_map(|source| &source.causes)
        .filter(|cause| cause.status == "open");
    if let Some(newest) = open.max_by_key(|cause| cause.time) {
        let moved: Vec<Moved> = newest.rows.iter().map(ChangePointView::moved).collect();
        return (name(&answer(&moved, &newest.since())), "worse");
    }
    let all = |count: fn(&SourceView) -> usize| sources.iter().map(count).sum::<usize>();
    let words = if all(|source| source.rows.len() + source.broken.len()) == 0 {
        "No data yet"
    } else if sources.iter().any(|source| !source.broken.is_empty()) {
        "No open regression, but some series have no good value"
    } else if all(|source| source.source.compared()) == 0 {
        "Your first numbers"
    } else {
        "Nothing is worse"
    };
    (words.to_owned(), "")
}

fn source_view<'a>(site: &'a Site, source: &'a Source) -> SourceView<'a> {
    let mut rows: Vec<&Drawn> = source.metrics().collect();
    rows.sort_by_key(|drawn| order(drawn));
    let now = |status: &str| matches!(status, "accepted" | "better" | "unknown");
    let mut causes = causes(site, std::slice::from_ref(source), |row| {
        row.status == "open" || (row.after_mark && now(row.status))
    });
    causes.sort_by_key(|cause| cause.status != "open");
    let more = causes.len().saturating_sub(CARDS);
    causes.truncate(CARDS);
    SourceView {
        source,
        causes,
        more,
        broken: broken(source),
        rows,
    }
}

/// Every series without a good value in the newest run; those that share the reason together.
fn broken<'a>(source: &'a Source) -> Vec<(String, Vec<Broken<'a>>)> {
    let known = source.series.iter().filter_map(|series| {
        let withheld = || series.metrics.iter().filter_map(|drawn| drawn.stands.withheld.as_ref());
        let known = Some((&series.page, withheld().count()));
        Some((withheld().next()?, (series.name, known)))
    });
    let unknown = source.line.failed.iter();
    let unknown = unknown.map(|(series, reason)| (reason, (series.as_str(), None)));
    let all = known.chain(unknown);
    by_key(all.map(|(reason, series)| (shown::sentence(reason), series)))
}

/// How many runs are missing until the first verdict, in words; none when something is judged.
fn first_runs(source: &Source, rows: &[&Drawn]) -> Option<String> {
    let early = !rows.is_empty() && rows.iter().all(|row| row.stands.standing == Standing::Few);
    let missing = FEWEST_VALUES.saturating_sub(source.timeline.pushes);
    (early && missing > 0).then(|| format!("{} until verdicts.", plural(missing, "more run")))
}

fn remark(drawn: &Drawn) -> String {
    match drawn.stands.standing {
        // The sentence above the table says it of all of them.
        Standing::Few => String::new(),
        _ => drawn.remark(),
    }
}

/// The worst first, then the largest change, in hundredths of a percent.
fn order(drawn: &Drawn) -> (Standing, i64) {
    let stands = &drawn.stands;
    let percent = stands.change.map_or(0.0, |change| change.percent.abs());
    (stands.standing, -((percent * 100.0).clamp(0.0, 1e12) as i64))
}

// The first numbers of a history that is too short for verdicts: server CPU time of a request, a bar a series, by scenario.

/// What the newest run measured.
#[derive(Debug)]
pub(super) struct FirstNumbers {
    /// What gRPC costs compared with HTTP, if one load generator loaded both.
    pub(super) answer: Option<String>,
    pub(super) picture: Markup,
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

fn draw(bars: &[Bar], longest: f64) -> Markup {
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

    #[test]
    fn imported_benchmarks_are_grouped_by_what_their_names_begin_with() {
        for (name, group) in [
            ("yew-v0.23.0-keyed 42_size", "yew-v0.23.0-keyed"),
            ("BenchmarkUintMath/add - allocs/op", "BenchmarkUintMath"),
            ("E2E_Evaluator_omc", "E2E"),
            ("tests::x", "tests"),
            ("/hidden", "/hidden"),
            ("plain", "plain"),
        ] {
            assert_eq!(prefix(name), group);
        }
    }
}

#[cfg(test)]
mod first_numbers_tests {
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
