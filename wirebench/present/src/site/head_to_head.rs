//! HTTP, gRPC or gRPC-web for this job? The servers of one run beside the first of them, a row for each job, loaded by the same driver.

use askama::Template;

use crate::report::format::{plural, three_digits};
use crate::report::head_to_head::{BOUNDS, times};
use crate::report::pacing::offered;
use crate::site::frame::{Frame, SitePage};
use crate::site::run_list;
use crate::site::scale::{self, Log};
use crate::site::shown::is_id;
use crate::site::svg::{Markup, Path, Svg};
use wirebench_judge::summary::head_to_head::{Bounds, Multiple, Relative, is_grpc, relatives};
use wirebench_judge::summary::{Section, sections};
use wirebench_record::run::{Bound, Run};

pub(super) const PAGE: SitePage = SitePage {
    applies: run_list::PAGE.applies,
    ..SitePage::new("head-to-head.html", "Head to head", |frame| {
        let site = frame.site;
        let runs = site.input.runs.iter().map(|paged| &paged.run);
        render(frame, runs, &|id| site.with_page.contains(id))
    })
};

#[derive(Template)]
#[template(path = "head_to_head.html")]
struct Page<'a> {
    frame: Frame<'a>,
    /// The run that is shown.
    run: Option<&'a Run>,
    /// Its id, where it has a page.
    file: Option<&'a String>,
    answer: Vec<String>,
    jobs: Vec<Job<'a>>,
}

impl Page<'_> {
    /// What gRPC costs compared with HTTP, without the full stop.
    fn headline(&self) -> &str {
        let first = self.run.and(self.answer.first());
        first.map_or("HTTP, gRPC or gRPC-web for this job?", |answer| {
            answer.trim_end_matches('.')
        })
    }
}

/// A server beside the first one that the same driver loaded with the same work.
struct Job<'a> {
    scenario: &'a str,
    /// What was measured; empty where the row above says it.
    about: String,
    relative: Relative<'a>,
    /// CPU time of a request as a multiple of the first server's, as a mark over the axis of all jobs.
    bar: Option<Markup>,
}

/// Shows the newest of these runs in which one driver loaded several servers. `paged` says whether a run has a page.
fn render<'a>(
    frame: Frame,
    runs: impl IntoIterator<Item = &'a Run>,
    paged: &dyn Fn(&str) -> bool,
) -> Result<String, askama::Error> {
    let has_jobs = |run: &&Run| sections(run).iter().any(|section| !relatives(section).is_empty());
    let newest = (runs.into_iter().filter(has_jobs)).max_by(|a, b| a.started_at.cmp(&b.started_at));
    let sections = newest.map(sections).unwrap_or_default();
    Page {
        frame,
        run: newest,
        file: newest.map(|run| &run.id).filter(|id| is_id(id) && paged(id)),
        answer: answer(&sections),
        jobs: jobs(&sections),
    }
    .render()
}

const BAR: (f64, f64) = (190.0, 20.0);

fn jobs<'a>(sections: &[Section<'a>]) -> Vec<Job<'a>> {
    let all: Vec<(&'a str, Relative)> = sections
        .iter()
        .flat_map(|section| {
            relatives(section)
                .into_iter()
                .map(|relative| (section.scenario, relative))
        })
        .collect();
    let ratios = all.iter().filter_map(|(_, job)| job.server_cpu);
    let axis = scale::axis(ratios.map(|found| (found.low, found.high)), (6.0, BAR.0 - 6.0));
    // The load of a scenario is said once.
    let mut before = "";
    let job = |(scenario, relative): (&'a str, Relative<'a>)| {
        let series = relative.row.series;
        let is_new = std::mem::replace(&mut before, scenario) != scenario;
        Job {
            scenario,
            about: if is_new { offered(&series.load) } else { String::new() },
            bar: relative.server_cpu.map(|found| bar(axis, &series.protocol, found)),
            relative,
        }
    };
    all.into_iter().map(job).collect()
}

/// The class that gives a protocol its colour.
pub(super) fn class(protocol: &str) -> &'static str {
    if is_grpc(protocol) { "grpc" } else { "http" }
}

fn bar(axis: Log, protocol: &str, found: Multiple) -> Markup {
    let class = class(protocol);
    let middle = BAR.1 / 2.0;
    let mut svg = Svg::new(BAR.0, BAR.1);
    svg.line("one", (axis.at(1.0), 0.0), (axis.at(1.0), BAR.1));
    let ends = [found.low, found.high].map(|end| (axis.at(end), middle));
    svg.line(&format!("whisker {class}"), ends[0], ends[1]);
    let mut dot = Path::default();
    dot.dot((axis.at(found.times), middle));
    svg.path(&format!("point {class}"), &dot, "");
    svg.finish("ratio-bar", &times(Some(found)))
}

/// Whether the driver limited one of the two.
fn is_client_bound(relative: &Relative) -> bool {
    [relative.row.bound, relative.first.bound].contains(&Some(Bound::Client))
}

/// The jobs in which one load generator loaded a gRPC server and the HTTP server beside it.
fn of_grpc<'a>(sections: &'a [Section<'a>]) -> Vec<Relative<'a>> {
    let of_grpc = |job: &Relative| is_grpc(&job.row.series.protocol) && !is_grpc(&job.first.series.protocol);
    sections.iter().flat_map(relatives).filter(of_grpc).collect()
}

/// What a gRPC request costs compared with HTTP; `None` if no job says so.
pub(super) fn cpu_sentence(sections: &[Section]) -> Option<String> {
    let cpu: Vec<Multiple> = of_grpc(sections).iter().filter_map(|job| job.server_cpu).collect();
    (!cpu.is_empty()).then(|| format!("A gRPC request costs {}.", told(["more", "less"], "CPU time", &cpu)))
}

/// What gRPC costs compared with HTTP in this run, in sentences: the same paired estimates as in the table.
fn answer(sections: &[Section]) -> Vec<String> {
    let jobs = of_grpc(sections);
    if jobs.is_empty() {
        return vec!["No driver asked an HTTP and a gRPC server for the same work.".into()];
    }
    let unlimited = jobs.iter().filter(|job| !is_client_bound(job));
    let throughput: Vec<Multiple> = unlimited.filter_map(|job| job.throughput).collect();
    let mut sentences = Vec::from_iter(cpu_sentence(sections));
    sentences.push(if throughput.is_empty() {
        "Of throughput nothing can be said: the driver was the limit in every job.".into()
    } else {
        format!("gRPC has {}.", told(["higher", "lower"], "throughput", &throughput))
    });
    sentences
}

/// In how many jobs a multiple is clearly above and below 1, with the range of its estimates, and in how many it is neither.
fn told([above, below]: [&str; 2], what: &str, found: &[Multiple]) -> String {
    let all = plural(found.len(), "job");
    let is_clear = |one: &&Multiple| one.is_clear() && one.bounds != Bounds::Range(1);
    let clear: Vec<f64> = found.iter().filter(is_clear).map(|one| one.times).collect();
    let (more, less): (Vec<f64>, Vec<f64>) = clear.iter().partition(|times| **times > 1.0);
    let first = match (more.len(), less.len()) {
        (0, 0) => return format!("neither {above} nor {below} {what} than HTTP: no difference in {all} is clear"),
        (0, count) => format!("{below} {what} than HTTP in {count} of {all} ({})", range(&less)),
        (count, _) => format!("{above} {what} than HTTP in {count} of {all} ({})", range(&more)),
    };
    let second = match (more.len(), less.len()) {
        (0, _) | (_, 0) => String::new(),
        (_, count) => format!(", {below} in {count} ({})", range(&less)),
    };
    let third = match found.len() - clear.len() {
        0 => String::new(),
        open => format!(", no clear difference in {open}"),
    };
    first + &second + &third
}

/// `× 1.10 to 1.30`.
fn range(times: &[f64]) -> String {
    let low = three_digits(times.iter().copied().fold(f64::INFINITY, f64::min));
    let high = three_digits(times.iter().copied().fold(0.0, f64::max));
    if low == high {
        format!("× {low}")
    } else {
        format!("× {low} to {high}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::samples;
    use wirebench_record::metric::Metric;

    fn page(run: &Run) -> String {
        let site = samples::site();
        render(PAGE.frame(&site), [run], &|_| true).unwrap()
    }

    #[test]
    fn a_row_is_a_job_with_the_paired_estimate_and_its_interval() {
        let run = samples::reference();
        let page = page(&run);
        crate::site::well_formed::check(&page).unwrap();
        for said in [
            "data-scenario=\"weather-fixed-count\" data-driver=\"h2load\"",
            "data-scenario=\"weather-multiplexed\" data-driver=\"ghz\"",
            "client-bound",
            "100 connections × 1 stream",
            "run/20261121T051047Z-352901.html",
        ] {
            assert!(page.contains(said), "{said}");
        }
        let of = |id: &str| run.series.iter().find(|series| series.id == id).unwrap();
        let (grpc, http) = (
            of("weather-fixed-count@grpc@h2load"),
            of("weather-fixed-count@http@h2load"),
        );
        let expected = times(Multiple::of(Metric::ServerCpu, grpc, http));
        assert!(page.contains(&expected) && expected.contains(" to "), "{expected}");
    }

    #[test]
    fn the_answer_counts_the_jobs_of_the_table_and_leaves_none_out() {
        let multiple = |times: f64, low: f64, high: f64| Multiple {
            times,
            low,
            high,
            bounds: Bounds::Interval,
        };
        let found = [
            multiple(1.3, 1.2, 1.4),
            multiple(1.1, 1.05, 1.2),
            multiple(0.36, 0.2, 1.34),
            multiple(0.9, 0.85, 0.95),
        ];
        assert_eq!(
            told(["more", "less"], "CPU time", &found),
            "more CPU time than HTTP in 2 of 4 jobs (× 1.10 to 1.30), less in 1 (× 0.90), no clear difference in 1"
        );
        assert_eq!(
            told(["more", "less"], "CPU time", &found[2..3]),
            "neither more nor less CPU time than HTTP: no difference in 1 job is clear"
        );
        assert_eq!(
            told(["more", "less"], "CPU time", &found[3..]),
            "less CPU time than HTTP in 1 of 1 job (× 0.90)"
        );
    }

    #[test]
    fn a_throughput_at_the_clients_ceiling_is_no_answer() {
        let mut run = samples::reference();
        assert!(answer(&sections(&run))[1].starts_with("gRPC has "));
        for round in run.series.iter_mut().flat_map(|series| &mut series.rounds) {
            round.bound = Some(Bound::Client);
        }
        assert!(answer(&sections(&run))[1].starts_with("Of throughput nothing can be said"));
    }

    #[test]
    fn what_two_machines_measured_is_not_put_side_by_side() {
        let mut run = samples::reference();
        samples::part(&mut run, |series| series.server.starts_with("grpc"));
        let sections = sections(&run);
        assert_eq!(
            answer(&sections),
            ["No driver asked an HTTP and a gRPC server for the same work."]
        );
        for relative in sections.iter().flat_map(relatives) {
            assert_eq!(relative.row.shard, relative.first.shard);
        }
    }

    #[test]
    fn of_several_runs_the_newest_that_can_answer_is_shown() {
        let (older, mut newer, mut alone) = (samples::reference(), samples::reference(), samples::reference());
        (newer.id, newer.started_at) = ("newer".into(), "2027-01-01T00:00:00Z".into());
        (alone.id, alone.started_at) = ("alone".into(), "2027-01-02T00:00:00Z".into());
        alone.series.retain(|series| series.server == "http");
        let site = samples::site();
        let runs = [&older, &newer, &alone];
        let page = render(PAGE.frame(&site), runs, &|id| id == "alone").unwrap();
        assert!(page.contains("newer") && !page.contains("alone"));
        assert!(!page.contains("run/newer.html"), "only runs with a page are linked");
    }

    #[test]
    fn without_such_a_run_it_says_how_to_make_one() {
        let site = samples::site();
        let none = render(PAGE.frame(&site), std::iter::empty(), &|_| true).unwrap();
        assert!(none.contains("No run asks several servers") && none.contains("wirebench run"));
    }

    #[test]
    fn hostile_names_stay_names() {
        let mut run = samples::reference();
        samples::with_counts(&mut run);
        samples::poison(&mut run);
        // Two series with one id are one server.
        for (number, series) in run.series.iter_mut().enumerate() {
            series.id = number.to_string();
        }
        samples::assert_inert(&page(&run));
    }
}
