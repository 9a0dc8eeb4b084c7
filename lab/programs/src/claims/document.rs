//! docs/COMPARISONS.md: every public comparison, claim by claim, with the findings of a run.

use askama::Template;

use crate::claims::figures::series;
use crate::claims::judged::{judge, newest};
use crate::claims::prices::Prices;
use crate::claims::publication::PublicComparison;
use crate::claims::tables::{self, Judged};
use crate::claims::{answer, codecs, conclusions, cross_check, factors, month};
use wirebench_present::report::format::{self, count, time};
use wirebench_record::run::Run;

/// A run that the document reports.
#[derive(Debug)]
pub struct LinkedRun {
    /// The record.
    pub run: Run,
    /// The link from the document to the record.
    pub link: String,
}

/// The document and the files that it links to.
#[derive(Debug)]
pub struct Written {
    /// The Markdown text of the document itself.
    pub text: String,
    /// What lies in the folder `comparisons` beside it: the file's name and its text.
    pub details: Vec<(String, String)>,
}

#[derive(Template)]
#[template(path = "claims.md")]
struct Document<'a> {
    links: String,
    /// How to repeat the runs.
    repeat: String,
    /// The headline and the readers' cases; empty if no comparison names a job.
    first_screen: String,
    judged: &'a [Judged<'a>],
}

/// One comparison, claim by claim.
#[derive(Template)]
#[template(path = "claim.md")]
struct Detail<'a> {
    judged: &'a Judged<'a>,
    links: String,
}

/// The document: each comparison that was measured, by the newest run that measured it. With prices, monthly estimates have costs.
#[must_use]
pub fn render(comparisons: &[PublicComparison], linked: &[LinkedRun], prices: Option<&Prices>) -> Written {
    let runs: Vec<&Run> = linked.iter().map(|linked| &linked.run).collect();
    let judged = |comparison| {
        let run = newest(comparison, runs.iter().copied())?;
        Some(Judged {
            comparison,
            run,
            outcomes: judge(comparison, run),
            prices,
        })
    };
    let judged: Vec<Judged> = comparisons.iter().filter_map(judged).collect();
    let answers = answer::answers(comparisons, &runs);
    let has_jobs = !answers.is_empty();
    let document = Document {
        links: links(
            "one run",
            &linked.iter().map(|one| one.link.clone()).collect::<Vec<_>>(),
        ),
        repeat: match linked {
            [] => String::new(),
            [one] => format!(
                "Repeat it with `lab/scripts/comparisons.sh --profile {}`.",
                one.run.profile
            ),
            _ => "Repeat them with `lab/scripts/comparisons.sh`.".into(),
        },
        first_screen: if has_jobs {
            answer::first_screen(&answers)
        } else {
            String::new()
        },
        judged: &judged,
    };
    let mut details: Vec<(String, String)> = judged.iter().map(|one| detail(one, linked)).collect();
    if has_jobs {
        details.push(("JOBS.md".into(), jobs(&answers)));
        details.push(("jobs.tsv".into(), answer::chart(&answers)));
    }
    Written {
        text: document.render().expect("the template only writes into a string"),
        details,
    }
}

fn detail(judged: &Judged, linked: &[LinkedRun]) -> (String, String) {
    let needed = judged.comparison.series();
    let measured = |linked: &&LinkedRun| {
        linked
            .run
            .series
            .iter()
            .any(|series| needed.contains(series.id.as_str()))
    };
    let above = |linked: &LinkedRun| format!("../{}", linked.link);
    let of_it: Vec<String> = linked.iter().filter(measured).map(above).collect();
    let text = Detail {
        judged,
        links: links("the run", &of_it),
    }
    .render();
    let name = format!("{}.md", judged.comparison.letter);
    (name, text.expect("the template only writes into a string"))
}

fn jobs(answers: &[answer::Answer]) -> String {
    format!(
        "# HTTP or gRPC: every job\n\nWritten by `lab claims`; not edited by hand. They hold for the servers, clients and machine of the runs ([COMPARISONS](../COMPARISONS.md)). Ratios are second side ÷ first side: the Hodges–Lehmann estimate over rounds of the same number, measured in turn, with the 95 % interval (of fewer than 6 rounds, their range); bold where equality lies outside. They need not be the quotient of the two medians. Latency is left out where h2load's over HTTP/2 would stand beside HTTP/1.1's.\n\n{}",
        answer::every_job(answers)
    )
}

/// A link to one run, with these words, or several as `[run 1](ADDRESS), [run 2](ADDRESS)`.
fn links(single: &str, addresses: &[String]) -> String {
    match addresses {
        [one] => format!("[{single}]({one})"),
        all => {
            let links: Vec<String> = (all.iter().zip(1..))
                .map(|(one, number)| format!("[run {number}]({one})"))
                .collect();
            links.join(", ")
        }
    }
}

impl Judged<'_> {
    fn commits(&self) -> String {
        let variants = self.run.variants.iter();
        let commits = variants.map(|one| one.commit.as_deref().unwrap_or("no commit"));
        commits.collect::<Vec<_>>().join(", ")
    }

    /// How many rounds there were of the series that repeat a publication its way, and how long each was.
    #[expect(
        clippy::cast_precision_loss,
        reason = "requests and nanoseconds of one round stay far below 2^53"
    )]
    fn rounds(&self) -> String {
        let run = self.run;
        let theirs = self.comparison.questions.iter().flat_map(|question| &question.theirs);
        let mut lengths: Vec<String> = Vec::new();
        for series in theirs.filter_map(|id| series(run, id)) {
            let stages = || series.load.stages.iter().map(|stage| stage.duration_ns).sum::<u64>();
            let length = match (series.load.requests, series.load.duration_ns) {
                (Some(requests), _) => format!("{} requests", count(requests as f64)),
                (None, Some(ns)) => time(ns as f64),
                (None, None) => format!("{} in stages", time(stages() as f64)),
            };
            if !lengths.contains(&length) {
                lengths.push(length);
            }
        }
        format!(
            "{} rounds of each series, in turn, of {}.",
            run.rounds_planned,
            lengths.join(", or ")
        )
    }

    /// The sections that some comparisons have in addition to their claims.
    fn extras(&self) -> String {
        let (comparison, run) = (self.comparison, self.run);
        [
            factors::section(&comparison.factors, run),
            codecs::section(&comparison.codecs, run),
            cross_check::section(&comparison.cross_check, run),
            (comparison.month.as_ref()).map_or_else(String::new, |estimate| month::section(estimate, run, self.prices)),
        ]
        .concat()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::claims::publication::{Audit, Check, Claim, Experiment, Fate, Job, Published, Quantity, Question, Said};

    pub(crate) fn comparison() -> PublicComparison {
        PublicComparison {
            name: "c-tools".into(),
            letter: "C".into(),
            title: "fixed requests, mixed tools".into(),
            ran: "one call".into(),
            advice: "gRPC".into(),
            differs: vec!["two processes".into()],
            questions: vec![Question {
                about: "throughput".into(),
                sides: ["HTTP".into(), "gRPC".into()],
                theirs: ["weather-fixed-count@http@hey", "weather-fixed-count@grpc@ghz"].map(str::to_owned),
                equal: Some(["weather-fixed-count@http@h2load", "weather-fixed-count@grpc@h2load"].map(str::to_owned)),
                claims: vec![Claim {
                    quantity: Quantity::ThroughputRps,
                    values: [1785.0, 3745.0],
                    called_equal: false,
                }],
                not_counted: None,
                experiments: vec![Experiment {
                    changes: "ghz with h2load | x".into(),
                    pair: ["weather-fixed-count@http@hey", "weather-fixed-count@grpc@h2load"].map(str::to_owned),
                    cause: "the client".into(),
                }],
            }],
            published: vec![Published {
                what: "requests/s".into(),
                printed: vec!["1,785".into(), "3,745".into()],
                fate: None,
            }],
            said: vec![Said {
                what: "prices".into(),
                fate: Fate::LeftOut("not given".into()),
            }],
            audits: vec![Audit {
                about: "gRPC".into(),
                check: Check::NotTheSame {
                    because: "two cities".into(),
                },
                explained_by: Some("The script.".into()),
                shown_by: None,
            }],
            jobs: vec![Job {
                job: "a direct call".into(),
                sides: ["HTTP".into(), "gRPC".into()],
                pair: ["weather-fixed-count@http@h2load", "weather-fixed-count@grpc@h2load"].map(str::to_owned),
                group: "Called directly".into(),
                case: Some("a direct call".into()),
            }],
            factors: Vec::new(),
            codecs: Vec::new(),
            cross_check: Vec::new(),
            month: None,
        }
    }

    /// The document with its details.
    fn whole(written: &Written) -> String {
        let details = written.details.iter().map(|(_, text)| text.as_str());
        std::iter::once(written.text.as_str()).chain(details).collect()
    }

    #[test]
    fn a_document_shows_the_published_ratio_the_measured_one_and_the_finding() {
        let mut run: Run = serde_json::from_str(include_str!("../../../../results/reference/run.json")).unwrap();
        let linked = |run: &Run| LinkedRun {
            run: run.clone(),
            link: "../results/x/run.json".into(),
        };
        let written = render(&[comparison()], &[linked(&run)], None);
        let names: Vec<&str> = written.details.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["C.md", "JOBS.md", "jobs.tsv"]);
        let text = whole(&written);
        for needed in [
            "| [C](comparisons/C.md) | fixed requests, mixed tools | gRPC | 0 |",
            "1 of 1 of their own checks",
            "- **a direct call**: HTTP costs less.",
            "| requests/s | 1,785 → 3,745 | × 2.10 |",
            "# C: fixed requests, mixed tools",
            "**What it comes to**: its one claim: ",
            "**By job, not by protocol.** gRPC takes this much of HTTP's server CPU per request: called directly × 1.",
            "| ghz with h2load / x |",
            "⇄ reversed on equal terms: × ",
            "- **Called directly: a direct call**: HTTP costs less.",
            "| gRPC | two cities | ✗ not the same question | The script. (An inference.) |",
            "| requests/s: 1,785 → 3,745 | reproduced: `weather-fixed-count@http@hey` |\n",
            "| prices | left out: not given |",
            "[the run](../../results/x/run.json)",
        ] {
            assert!(text.contains(needed), "no {needed:?} in\n{text}");
        }
        assert!(
            !text.contains('†') || text.matches('†').count() == 1,
            "only the legend speaks of †"
        );
        for round in run.series.iter_mut().flat_map(|series| &mut series.rounds) {
            round.reason = Some("3 of 9 requests failed".into());
        }
        let doubted = whole(&render(&[comparison()], &[linked(&run)], None));
        let two = render(&[comparison()], &[linked(&run), linked(&run)], None).text;
        assert!(
            two.contains("from [run 1](../results/x/run.json), [run 2](../results/x/run.json) and"),
            "{two}"
        );
        assert!(
            doubted.contains("† weather-fixed-count@grpc@h2load: 3 of 9 requests failed")
                || doubted.contains("† weather-fixed-count@http@h2load: 3 of 9 requests failed"),
            "{doubted}"
        );
    }
}
