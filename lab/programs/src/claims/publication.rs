//! `claims/NAME.toml`: a comparison that others published, claim by claim, and the series that test each claim.

mod audit;
mod extras;

pub use audit::{Audit, Check};
pub use extras::{Codec, Factor, Job, Month};

use std::collections::BTreeSet;

use serde::Deserialize;

use wirebench_declare::read::{DeclareError, Place};

/// A public comparison: what was run, what was reported, and how it is repeated here.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublicComparison {
    /// The file's name without its ending.
    #[serde(skip)]
    pub name: String,
    /// The letter by which it is chosen: `--only A`.
    pub letter: String,
    /// Its title.
    pub title: String,
    /// What was run: shape, endpoints, tools, load.
    pub ran: String,
    /// The advice its authors gave.
    pub advice: String,
    /// The differences between their setup and this one, each a sentence.
    #[serde(default)]
    pub differs: Vec<String>,
    /// The compared pairs, with the claims about them.
    pub questions: Vec<Question>,
    /// Every published figure as printed, also those that no series here repeats.
    #[serde(default)]
    pub published: Vec<Published>,
    /// Every command and sentence that claims something.
    #[serde(default)]
    pub said: Vec<Said>,
    /// Checks of the figures against each other.
    #[serde(default)]
    pub audits: Vec<Audit>,
    /// Use cases for which one of the two sides is chosen, each decided by a pair of series.
    #[serde(default)]
    pub jobs: Vec<Job>,
    /// Changes of one thing each.
    #[serde(default)]
    pub factors: Vec<Factor>,
    /// Payloads that are encoded and decoded without a server.
    #[serde(default)]
    pub codecs: Vec<Codec>,
    /// Series that ask one server with several load generators.
    #[serde(default)]
    pub cross_check: Vec<String>,
    /// What the published monthly estimate assumes.
    pub month: Option<Month>,
}

/// Figures of one thing, in the publication's own digits.
#[derive(Debug, Clone, Deserialize)]
pub struct Published {
    /// What they are, with the unit.
    pub what: String,
    /// The figures, in the order of the sides.
    pub printed: Vec<String>,
    /// What became of them, unless a claim has these figures.
    #[serde(flatten)]
    pub fate: Option<Fate>,
}

/// A command or a sentence that claims something.
#[derive(Debug, Clone, Deserialize)]
pub struct Said {
    /// The command or sentence, or what it says.
    pub what: String,
    /// What became of it.
    #[serde(flatten)]
    pub fate: Fate,
}

/// What became of something published.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// It is repeated by series; the first of them.
    Reproduced(String),
    /// It is judged without a repetition: how.
    Judged(String),
    /// It is left out: why.
    LeftOut(String),
}

/// Two sides that were compared under one load.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// What was compared.
    pub about: String,
    /// The names of the two sides, such as HTTP and gRPC.
    pub sides: [String; 2],
    /// The two series that repeat it the way it was measured.
    pub theirs: [String; 2],
    /// The two series on equal terms; `None` if `theirs` is equal already.
    pub equal: Option<[String; 2]>,
    /// What was reported.
    pub claims: Vec<Claim>,
    /// Why its claims are not counted: no figure was published for it, or the same figures belong to another of these questions.
    pub not_counted: Option<String>,
    /// Repetitions in which only one thing is changed.
    #[serde(default)]
    pub experiments: Vec<Experiment>,
}

impl Question {
    /// The series on equal terms: `equal`, or else `theirs`.
    #[must_use]
    pub fn on_equal_terms(&self) -> &[String; 2] {
        self.equal.as_ref().unwrap_or(&self.theirs)
    }

    /// Every pair of series that it compares.
    fn pairs(&self) -> impl Iterator<Item = &[String; 2]> {
        let pairs = [Some(&self.theirs), self.equal.as_ref()];
        let experiments = self.experiments.iter().map(|one| &one.pair);
        pairs.into_iter().flatten().chain(experiments)
    }
}

/// One figure for each of two sides.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// What was measured.
    pub quantity: Quantity,
    /// The two figures, in the quantity's unit.
    pub values: [f64; 2],
    /// Whether the publication calls them equal although they differ.
    #[serde(default)]
    pub called_equal: bool,
}

/// The quantity of a claim; the unit is in the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Good responses per second.
    ThroughputRps,
    /// Mean latency.
    LatencyMeanMs,
    /// Median latency.
    LatencyP50Ms,
    /// 95th percentile.
    LatencyP95Ms,
    /// 99th percentile.
    LatencyP99Ms,
    /// Body or message of one response.
    PayloadBytes,
    /// Largest resident memory of all the server's processes, 10^6 bytes.
    MemoryMb,
    /// CPU of all the server's processes, percent of one core.
    CpuPercent,
    /// Bytes sent by all the server's processes, 10^6 a second.
    NetworkMbPerS,
    /// Requests that failed in a round.
    FailedRequests,
}

impl Quantity {
    /// True if more is better.
    #[must_use]
    pub const fn more_is_better(self) -> bool {
        matches!(self, Self::ThroughputRps)
    }

    /// Its name for people.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::ThroughputRps => "requests/s",
            Self::LatencyMeanMs => "mean latency, ms",
            Self::LatencyP50Ms => "p50, ms",
            Self::LatencyP95Ms => "p95, ms",
            Self::LatencyP99Ms => "p99, ms",
            Self::PayloadBytes => "payload, bytes",
            Self::MemoryMb => "memory, MB",
            Self::CpuPercent => "CPU, % of a core",
            Self::NetworkMbPerS => "network, MB/s",
            Self::FailedRequests => "failed requests",
        }
    }
}

/// A repetition that differs from the way it was measured in one thing.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// The one thing that is changed.
    pub changes: String,
    /// The two series; an unchanged side is the same as in `theirs`.
    pub pair: [String; 2],
    /// The effect of the change, and why it matters to the claim.
    pub cause: String,
}

impl PublicComparison {
    /// Checks the file at a place.
    ///
    /// # Errors
    /// When it has no questions, a question has no claims, a series is not `scenario@server@driver`, or a figure is negative.
    pub(super) fn check(self, place: &Place, name: String) -> Result<Self, DeclareError> {
        let at_least_one = |number: usize, key: &str, what: &str| match number {
            0 => Err(place.wrong(key, format!("expected at least one {what}"))),
            _ => Ok(()),
        };
        at_least_one(self.questions.len(), "questions", "question")?;
        for (number, question) in self.questions.iter().enumerate() {
            let key = |rest: &str| format!("questions[{number}].{rest}");
            at_least_one(question.claims.len(), &key("claims"), "claim")?;
            all_series(question.pairs().flatten(), place, &key("theirs"))?;
            let figures = question.claims.iter().flat_map(|claim| claim.values);
            all_from_zero(figures, place, &key("claims"))?;
        }
        for (number, published) in self.published.iter().enumerate() {
            let key = format!("published[{number}].printed");
            at_least_one(published.printed.len(), &key, "figure")?;
            if self.fate(published).is_none() {
                let message = "no claim has these figures: expected `judged` or `left_out` with the reason".to_owned();
                return Err(place.wrong(&format!("published[{number}]"), message));
            }
        }
        for (number, said) in self.said.iter().enumerate() {
            let is_known = |id: &String| self.series().contains(id.as_str());
            if let Fate::Reproduced(id) = &said.fate
                && !is_known(id)
            {
                let message = format!("no question, factor or codec measures \"{id}\"");
                return Err(place.wrong(&format!("said[{number}].reproduced"), message));
            }
        }
        let jobs: Vec<_> = self.jobs.iter().map(|job| &job.pair).collect();
        let factors: Vec<_> = self.factors.iter().map(|factor| &factor.pair).collect();
        let codecs: Vec<_> = self.codecs.iter().map(|codec| &codec.pair).collect();
        for (list, pairs) in [("jobs", jobs), ("factors", factors), ("codecs", codecs)] {
            for (number, pair) in pairs.into_iter().enumerate() {
                all_series(pair, place, &format!("{list}[{number}].pair"))?;
            }
        }
        all_series(&self.cross_check, place, "cross_check")?;
        if let Some(month) = &self.month {
            all_series(&month.pair, place, "month.pair")?;
            all_from_zero(month.published_gb, place, "month.published_gb")?;
            let requests = month.requests_per_day;
            if !(requests.is_finite() && requests > 0.0) {
                let message = format!("expected a number above 0, found {requests}");
                return Err(place.wrong("month.requests_per_day", message));
            }
        }
        Ok(Self { name, ..self })
    }

    /// What became of published figures: those that a claim has are reproduced by its series; others say it themselves.
    #[must_use]
    pub fn fate(&self, published: &Published) -> Option<Fate> {
        let number = |text: &String| text.replace(',', "").parse::<f64>().ok();
        let figures: Option<Vec<f64>> = published.printed.iter().map(number).collect();
        let has = |question: &&Question| {
            let same = |claim: &Claim| figures.as_deref() == Some(&claim.values);
            question.claims.iter().any(same)
        };
        let claimed = self
            .questions
            .iter()
            .find(has)
            .map(|one| Fate::Reproduced(one.theirs[0].clone()));
        published.fate.clone().or(claimed)
    }

    /// Every pair of series that it compares.
    pub fn pairs(&self) -> impl Iterator<Item = &[String; 2]> {
        let of_questions = self.questions.iter().flat_map(Question::pairs);
        let jobs = self.jobs.iter().map(|job| &job.pair);
        let codecs = self.codecs.iter().map(|codec| &codec.pair);
        let factors = self.factors.iter().map(|factor| &factor.pair);
        let month = self.month.iter().map(|month| &month.pair);
        of_questions.chain(jobs).chain(factors).chain(codecs).chain(month)
    }

    /// Every series it needs.
    #[must_use]
    pub fn series(&self) -> BTreeSet<&str> {
        let all = self.pairs().flatten().chain(&self.cross_check);
        all.map(String::as_str).collect()
    }

    /// True if this word is its letter or its name.
    #[must_use]
    pub fn is_called(&self, word: &str) -> bool {
        self.letter.eq_ignore_ascii_case(word) || self.name == word
    }
}

/// Checks that each of these ids is a series.
fn all_series(ids: impl IntoIterator<Item: AsRef<str>>, place: &Place, key: &str) -> Result<(), DeclareError> {
    for id in ids {
        let id = id.as_ref();
        if id.split('@').count() != 3 {
            let message = format!("expected series such as \"scenario@server@driver\", found \"{id}\"");
            return Err(place.wrong(key, message));
        }
    }
    Ok(())
}

/// Checks that no figure is negative or infinite.
fn all_from_zero(figures: impl IntoIterator<Item = f64>, place: &Place, key: &str) -> Result<(), DeclareError> {
    let mut figures = figures.into_iter();
    match figures.find(|value| !(value.is_finite() && *value >= 0.0)) {
        Some(value) => Err(place.wrong(key, format!("expected figures from 0 up, found {value}"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    const WHOLE: &str = r#"
letter = "C"
title = "two tools"
ran = "one call"
advice = "use it"
[[questions]]
about = "50 connections"
sides = ["HTTP", "gRPC"]
theirs = ["c@http@ab", "c@grpc@ghz"]
claims = [{ quantity = "throughput_rps", values = [1785, 3745] }]
experiments = [{ changes = "keep-alive", pair = ["c@http@ab-keepalive", "c@grpc@ghz"], cause = "connections cost" }]
[[published]]
what = "requests/s"
printed = ["1,785", "3,745"]
[[audits]]
about = "HTTP, 50 connections"
check = { littles_law = { throughput_rps = 1785, latency_ms = 28.0, in_flight = 50 } }
[[jobs]]
group = "Called directly"
job = "a small answer"
sides = ["HTTP", "gRPC"]
pair = ["c@http@h2load", "c@grpc@h2load"]
[[factors]]
what = "connections, ab"
sides = ["new", "kept"]
pair = ["c@http@ab", "c@http@ab-keepalive"]
[[codecs]]
what = "one user, encode"
pair = ["user-json@domain@criterion", "user-protobuf@domain@criterion"]
[month]
requests_per_day = 1_000_000
sides = ["HTTP", "gRPC"]
pair = ["c@http@ab", "c@grpc@ghz"]
published_gb = [130, 52]
"#;

    fn read(text: &str) -> Result<PublicComparison, String> {
        let place = Place::file(Path::new("claims/c.toml"));
        let table: PublicComparison = toml::from_str(text).map_err(|error| error.to_string())?;
        table.check(&place, "c".into()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_public_comparison_names_the_series_that_test_it() {
        let head = "letter = \"C\"\ncross_check = [\"all@http@wrk\"]";
        let read = read(&WHOLE.replace("letter = \"C\"", head)).unwrap();
        let expected = [
            "all@http@wrk",
            "c@grpc@ghz",
            "c@grpc@h2load",
            "c@http@ab",
            "c@http@ab-keepalive",
            "c@http@h2load",
            "user-json@domain@criterion",
            "user-protobuf@domain@criterion",
        ];
        assert_eq!(read.series().into_iter().collect::<Vec<_>>(), expected);
        assert_eq!(read.questions[0].on_equal_terms(), &read.questions[0].theirs);
        assert!(read.is_called("c") && read.is_called("C") && !read.is_called("D"));
    }

    #[test]
    fn what_is_impossible_is_refused_by_its_key() {
        for (from, to, said) in [
            (
                "c@http@ab\",",
                "c@http\",",
                "questions[0].theirs: expected series such as",
            ),
            (
                "1785, 3745",
                "-1, 3745",
                "questions[0].claims: expected figures from 0 up, found -1",
            ),
            ("\"throughput_rps\"", "\"speed\"", "unknown variant `speed`"),
            ("c@grpc@h2load", "c", "jobs[0].pair: expected series such as"),
            (
                "[\"1,785\", \"3,745\"]",
                "[]",
                "published[0].printed: expected at least one figure",
            ),
            (
                "[\"1,785\", \"3,745\"]",
                "[\"1,785\", \"3,746\"]",
                "published[0]: no claim has these figures: expected `judged` or `left_out`",
            ),
            (
                "[[audits]]",
                "[[said]]\nwhat = \"ab -n 9\"\nreproduced = \"x@y@z\"\n[[audits]]",
                "said[0].reproduced: no question, factor or codec measures \"x@y@z\"",
            ),
            ("littles_law", "littles_guess", "unknown variant `littles_guess`"),
            (
                "\"c@http@ab-keepalive\"]\n[[codecs",
                "\"c\"]\n[[codecs",
                "factors[0].pair: expected series such as",
            ),
            (
                "user-json@domain@criterion",
                "user-json",
                "codecs[0].pair: expected series such as",
            ),
            (
                "[130, 52]",
                "[130, -52]",
                "month.published_gb: expected figures from 0 up, found -52",
            ),
            (
                "1_000_000",
                "0",
                "month.requests_per_day: expected a number above 0, found 0",
            ),
            ("letter", "leter", "unknown field `leter`"),
        ] {
            let found = read(&WHOLE.replace(from, to)).unwrap_err();
            assert!(found.contains(said), "{found}");
        }
    }
}
