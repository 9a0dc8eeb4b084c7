//! HTTP or gRPC, job by job: which of two sides costs less in one run, in one sentence and one row each.

use std::fmt::Write as _;

use crate::claims::document::figure;
use crate::report::format::{plain, three_digits};
use crate::report::head_to_head::times;
use wirebench_declare::claims::{Job, PublicComparison};
use wirebench_judge::claims::newest;
use wirebench_judge::summary::candidate_rounds;
use wirebench_judge::summary::multiple::Multiple;
use wirebench_record::metric::Metric;
use wirebench_record::run::{Round, Run, Series};
use wirebench_stats::quantile::median;

/// What the client h2load measures over HTTP/2 leaves out its own waiting: its latency is no match for HTTP/1.1's.
const NO_LATENCY: &str = "h2load";

/// One job with what a run says of it.
#[derive(Debug)]
pub struct Answer<'a> {
    /// What was asked.
    pub job: &'a Job,
    /// Server CPU of a request, second side as a multiple of the first; none where the run has not measured both.
    pub server_cpu: Option<Multiple>,
    /// Client CPU of a request.
    client_cpu: Option<Multiple>,
    /// Requests/s.
    throughput: Option<Multiple>,
    /// Median latency.
    latency: Option<Multiple>,
    /// Largest memory of the servers.
    memory: Option<Multiple>,
    /// Bytes of an answer's body or message on both sides.
    payload: Option<[f64; 2]>,
    /// Server CPU of a request on both sides, µs.
    microseconds: Option<[f64; 2]>,
}

/// Every job of the comparisons by rank, those without one last, each by the newest run that measured its comparison.
#[must_use]
pub fn answers<'a>(comparisons: &'a [PublicComparison], runs: &[&Run]) -> Vec<Answer<'a>> {
    let of = |comparison: &'a PublicComparison| {
        let run = newest(comparison, runs.iter().copied());
        comparison
            .jobs
            .iter()
            .map(move |job| run.map_or_else(|| Answer::unmeasured(job), |run| answer(job, run)))
    };
    let mut answers: Vec<Answer> = comparisons.iter().flat_map(of).collect();
    answers.sort_by_key(|answer| answer.job.rank.unwrap_or(u32::MAX));
    answers
}

/// All answers in one sentence: how many jobs the first side of each, HTTP, answers at less cost, and how many the second.
#[must_use]
pub fn headline(answers: &[Answer]) -> String {
    let measured: Vec<Multiple> = answers.iter().filter_map(|answer| answer.server_cpu).collect();
    let less = |is_first: bool| {
        let clear = measured.iter().filter(|cpu| cpu.is_clear());
        clear.filter(|cpu| (cpu.times > 1.0) == is_first).count()
    };
    let (http, grpc) = (less(true), less(false));
    let equal = match measured.len() - http - grpc {
        0 => String::new(),
        equal => format!("; in {equal} no difference was seen"),
    };
    format!(
        "Of {} jobs that were measured, HTTP costs the server less CPU in {http} and gRPC in {grpc}{equal}.",
        measured.len()
    )
}

fn answer<'a>(job: &'a Job, run: &Run) -> Answer<'a> {
    let of = |id: &String| run.series.iter().find(|series| series.id == *id);
    let Some((first, second)) = of(&job.pair[0]).zip(of(&job.pair[1])) else {
        return Answer::unmeasured(job);
    };
    let beside = |metric| Multiple::of(metric, second, first);
    let both = |read: &dyn Fn(&Round) -> Option<f64>| Some([middle(first, read)?, middle(second, read)?]);
    let is_one_protocol = first.protocol == second.protocol;
    Answer {
        job,
        server_cpu: beside(Metric::ServerCpu),
        client_cpu: beside(Metric::DriverCpu),
        throughput: beside(Metric::Throughput),
        latency: beside(Metric::LatencyP50).filter(|_| is_one_protocol || first.driver != NO_LATENCY),
        memory: beside(Metric::PeakRss),
        payload: both(&payload),
        microseconds: both(&|round| Metric::ServerCpu.of(round).map(|ns| ns / 1e3)),
    }
}

#[expect(clippy::cast_precision_loss, reason = "an answer has far fewer than 2^53 bytes")]
pub(super) fn payload(round: &Round) -> Option<f64> {
    round.payload_bytes.map(|bytes| bytes as f64)
}

pub(super) fn middle(series: &Series, read: &dyn Fn(&Round) -> Option<f64>) -> Option<f64> {
    let values: Vec<f64> = candidate_rounds(series).filter_map(read).collect();
    median(&values)
}

impl<'a> Answer<'a> {
    const fn unmeasured(job: &'a Job) -> Self {
        Self {
            job,
            server_cpu: None,
            client_cpu: None,
            throughput: None,
            latency: None,
            memory: None,
            payload: None,
            microseconds: None,
        }
    }

    /// The job and its answer in one line of Markdown.
    #[must_use]
    pub fn sentence(&self) -> String {
        format!("**{}**: {}", plain(&self.job.job), self.said())
    }

    /// The answer in one sentence that can be quoted: what costs the server less CPU, and by how much.
    #[must_use]
    pub fn said(&self) -> String {
        let [first, second] = [&self.job.sides[0], &self.job.sides[1]].map(|side| plain(side));
        let Some(cpu) = self.server_cpu else {
            return "not measured in this run.".into();
        };
        let [low, high] = [cpu.low, cpu.high];
        if !cpu.is_clear() {
            let [low, high] = [low, high].map(three_digits);
            return format!(
                "no difference in server CPU that this run can see ({second} takes × {low} to × {high} of {first}'s)."
            );
        }
        let (less, more, times, low, high) = if cpu.times > 1.0 {
            (first, second, cpu.times, low, high)
        } else {
            (second, first, 1.0 / cpu.times, 1.0 / high, 1.0 / low)
        };
        let [times, low, high] = [times, low, high].map(three_digits);
        format!("{less} costs less. {more} takes × {times} ({low} to {high}) of its server CPU per request.")
    }

    fn row(&self) -> String {
        let cells = [
            self.server_cpu,
            self.client_cpu,
            self.throughput,
            self.latency,
            self.memory,
        ]
        .map(marked);
        let pair = |pair: Option<[f64; 2]>| {
            pair.map_or("–".into(), |[first, second]| {
                format!("{} → {}", figure(first), figure(second))
            })
        };
        format!(
            "| {} | {} → {} | {} | {} | {} | {} |",
            plain(&self.job.job),
            plain(&self.job.sides[0]),
            plain(&self.job.sides[1]),
            pair(self.microseconds),
            cells.join(" | "),
            pair(self.payload),
            self.job
                .pair
                .iter()
                .map(|id| format!("`{}`", plain(id)))
                .collect::<Vec<_>>()
                .join(", ")
        )
    }
}

/// A ratio with its interval; bold where equality lies outside.
pub(super) fn marked(beside: Option<Multiple>) -> String {
    let text = times(beside);
    if beside.is_some_and(|beside| beside.is_clear()) {
        format!("**{text}**")
    } else {
        text
    }
}

/// The sentences, one a line of a list: what README and document share.
#[must_use]
pub fn sentences(answers: &[Answer]) -> String {
    answers.iter().fold(String::new(), |mut out, one| {
        let _ = writeln!(out, "- {}", one.sentence());
        out
    })
}

/// The first section of the document; empty where no comparison names a job.
#[must_use]
pub fn section(answers: &[Answer]) -> String {
    if answers.is_empty() {
        return String::new();
    }
    let rows = answers.iter().map(Answer::row).collect::<Vec<_>>().join("\n");
    format!(
        "## The answer, by job\n\n**By job, not by protocol.** {}\n\n{}\nThey hold for the servers, clients and machine of the run. Ratios are second side ÷ first side: the Hodges–Lehmann estimate over rounds of the same number, measured in turn, \
         with the 95 % interval (of fewer than 6 rounds, their range); bold where equality lies outside. They need not be the quotient of the two medians. Latency is left out where h2load's over HTTP/2 would stand beside HTTP/1.1's.\n\n\
         | job | sides | server CPU per request, µs | × | client CPU × | requests/s × | p50 × | memory × | payload, bytes | series |\n\
         |---|---|--:|--:|--:|--:|--:|--:|--:|---|\n{rows}\n\n",
        headline(answers),
        sentences(answers)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_judge::summary::multiple::Bounds;

    fn run() -> Run {
        serde_json::from_str(include_str!("../../../../results/reference/run.json")).unwrap()
    }

    fn job(pair: [&str; 2]) -> Job {
        Job {
            job: "a direct call".into(),
            sides: ["HTTP".into(), "gRPC".into()],
            pair: pair.map(str::to_owned),
            rank: None,
        }
    }

    #[test]
    fn the_headline_counts_what_each_side_costs_less() {
        let run = run();
        let known = job(["weather-fixed-count@http@h2load", "weather-fixed-count@grpc@h2load"]);
        let of = |times: f64, low: f64, high: f64| Answer {
            server_cpu: Some(Multiple {
                times,
                low,
                high,
                bounds: Bounds::Interval,
            }),
            ..answer(&known, &run)
        };
        let missing = job(["weather-fixed-count@http@h2load", "x@y@z"]);
        let all = [
            of(1.8, 1.6, 2.0),
            of(1.4, 1.2, 1.6),
            of(0.7, 0.6, 0.8),
            of(1.0, 0.8, 1.2),
            answer(&missing, &run),
        ];
        assert_eq!(
            headline(&all),
            "Of 4 jobs that were measured, HTTP costs the server less CPU in 2 and gRPC in 1; in 1 no difference was seen."
        );
        assert_eq!(
            headline(&all[..3]),
            "Of 3 jobs that were measured, HTTP costs the server less CPU in 2 and gRPC in 1."
        );
    }

    #[test]
    fn jobs_stand_by_their_rank() {
        let mut jobs = [
            job(["a@b@c", "a@d@c"]),
            job(["a@b@c", "a@d@c"]),
            job(["a@b@c", "a@d@c"]),
        ];
        (jobs[0].job, jobs[1].job, jobs[2].job) = ("last".into(), "second".into(), "first".into());
        (jobs[1].rank, jobs[2].rank) = (Some(2), Some(1));
        let comparison = crate::claims::document::tests::comparison();
        let comparison = PublicComparison {
            jobs: jobs.to_vec(),
            ..comparison
        };
        let said = sentences(&answers(&[comparison], &[&run()]));
        let at = |word: &str| said.find(word).unwrap();
        assert!(
            at("**first**") < at("**second**") && at("**second**") < at("**last**"),
            "{said}"
        );
    }

    #[test]
    fn a_job_is_answered_by_what_costs_the_server_less() {
        let run = run();
        let forth = job(["weather-fixed-count@http@h2load", "weather-fixed-count@grpc@h2load"]);
        let answer = answer(&forth, &run);
        let said = answer.sentence();
        assert!(
            said.starts_with("**a direct call**: HTTP costs less. gRPC takes × 1."),
            "{said}"
        );
        assert!(answer.latency.is_none(), "two protocols, and h2load");
        assert!(
            answer.row().contains(" µ") || answer.row().contains('→'),
            "{}",
            answer.row()
        );
        let mut back = job(["weather-fixed-count@grpc@h2load", "weather-fixed-count@http@h2load"]);
        back.sides.reverse();
        let said = super::answer(&back, &run).sentence();
        assert!(
            said.starts_with("**a direct call**: HTTP costs less. gRPC takes × 1."),
            "{said}"
        );
    }

    #[test]
    fn what_is_not_clear_or_not_measured_is_said_to_be_so() {
        let run = run();
        let missing = job(["weather-fixed-count@http@h2load", "x@y@z"]);
        assert_eq!(
            answer(&missing, &run).sentence(),
            "**a direct call**: not measured in this run."
        );
        let known = job(["weather-fixed-count@http@h2load", "weather-fixed-count@grpc@h2load"]);
        let mut unclear = answer(&known, &run);
        unclear.server_cpu = Some(Multiple {
            times: 1.05,
            low: 0.9,
            high: 1.2,
            bounds: Bounds::Interval,
        });
        assert_eq!(
            unclear.sentence(),
            "**a direct call**: no difference in server CPU that this run can see (gRPC takes × 0.90 to × 1.20 of HTTP's)."
        );
    }
}
