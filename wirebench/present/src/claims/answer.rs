//! HTTP or gRPC, job by job: which of two sides costs less in one run, in one sentence and one row each.

use std::fmt::Write as _;

use crate::claims::document::figure;
use crate::report::format::{plain, three_digits};
use crate::report::head_to_head::times;
use wirebench_declare::claims::{Job, PublicComparison};
use wirebench_judge::summary::beside::Beside;
use wirebench_judge::summary::candidate_rounds;
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
    pub server_cpu: Option<Beside>,
    /// Client CPU of a request.
    client_cpu: Option<Beside>,
    /// Requests/s.
    throughput: Option<Beside>,
    /// Median latency.
    latency: Option<Beside>,
    /// Largest memory of the servers.
    memory: Option<Beside>,
    /// Bytes of an answer's body or message on both sides.
    payload: Option<[f64; 2]>,
    /// Server CPU of a request on both sides, µs.
    microseconds: Option<[f64; 2]>,
}

/// Every job of the comparisons, in their order.
#[must_use]
pub fn answers<'a>(comparisons: &'a [PublicComparison], run: &Run) -> Vec<Answer<'a>> {
    let jobs = comparisons.iter().flat_map(|comparison| &comparison.jobs);
    jobs.map(|job| answer(job, run)).collect()
}

fn answer<'a>(job: &'a Job, run: &Run) -> Answer<'a> {
    let of = |id: &String| run.series.iter().find(|series| series.id == *id);
    let Some((first, second)) = of(&job.pair[0]).zip(of(&job.pair[1])) else {
        return Answer {
            job,
            server_cpu: None,
            client_cpu: None,
            throughput: None,
            latency: None,
            memory: None,
            payload: None,
            microseconds: None,
        };
    };
    let beside = |metric| Beside::of(metric, second, first);
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
fn payload(round: &Round) -> Option<f64> {
    round.payload_bytes.map(|bytes| bytes as f64)
}

fn middle(series: &Series, read: &dyn Fn(&Round) -> Option<f64>) -> Option<f64> {
    let values: Vec<f64> = candidate_rounds(series).filter_map(read).collect();
    median(&values)
}

impl Answer<'_> {
    /// The answer in one sentence that can be quoted: what costs the server less CPU, and by how much.
    #[must_use]
    pub fn sentence(&self) -> String {
        let job = plain(&self.job.job);
        let [first, second] = [&self.job.sides[0], &self.job.sides[1]].map(|side| plain(side));
        let Some(cpu) = self.server_cpu else {
            return format!("**{job}**: not measured in this run.");
        };
        let [low, high] = [cpu.low, cpu.high];
        if !cpu.is_clear() {
            let [low, high] = [low, high].map(three_digits);
            return format!(
                "**{job}**: no difference in server CPU that this run can see ({second} takes × {low} to × {high} of {first}'s)."
            );
        }
        let (less, more, times, low, high) = if cpu.times > 1.0 {
            (first, second, cpu.times, low, high)
        } else {
            (second, first, 1.0 / cpu.times, 1.0 / high, 1.0 / low)
        };
        let [times, low, high] = [times, low, high].map(three_digits);
        format!("**{job}**: {less} costs less. {more} takes × {times} ({low} to {high}) of its server CPU per request.")
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
fn marked(beside: Option<Beside>) -> String {
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
        "## The answer, by job\n\n{}\nThey hold for the servers, clients and machine of this run. Ratios are second side ÷ first side with their 95 % \
         interval (of fewer than 6 rounds, their range), estimated over rounds measured in turn; bold where equality lies outside. Latency is left out where h2load's over HTTP/2 would stand beside HTTP/1.1's.\n\n\
         | job | sides | server CPU per request, µs | × | client CPU × | requests/s × | p50 × | memory × | payload, bytes | series |\n\
         |---|---|--:|--:|--:|--:|--:|--:|--:|---|\n{rows}\n\n",
        sentences(answers)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_judge::summary::beside::Bounds;

    fn run() -> Run {
        serde_json::from_str(include_str!("../../../../results/reference/run.json")).unwrap()
    }

    fn job(pair: [&str; 2]) -> Job {
        Job {
            job: "a direct call".into(),
            sides: ["HTTP".into(), "gRPC".into()],
            pair: pair.map(str::to_owned),
        }
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
        unclear.server_cpu = Some(Beside {
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
