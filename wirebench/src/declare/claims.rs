//! `claims/NAME.toml`: a comparison that somebody else published, claim by claim, and the series that put each to the test.

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::declare::read::{DeclareError, Place};

/// A public comparison: what was run, what was reported, and how it is repeated here.
#[derive(Debug, Clone)]
pub struct PublicComparison {
    /// The file's name without its ending.
    pub name: String,
    /// The letter by which it is chosen: `--only A`.
    pub letter: String,
    /// What it is called, in a few words.
    pub title: String,
    /// What was run: shape, endpoints, tools, load.
    pub ran: String,
    /// The advice its authors gave.
    pub advice: String,
    /// What differs here from what they ran, each a sentence.
    pub differs: Vec<String>,
    /// Why the claims hold or not, in words: what the experiments come to.
    pub why: Option<String>,
    /// What was asked, with the claims made of it.
    pub questions: Vec<Question>,
}

/// Two sides that were compared under one load.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// What was compared, in a few words.
    pub about: String,
    /// The names of the two sides, such as HTTP and gRPC.
    pub sides: [String; 2],
    /// The two series that repeat it the way it was measured.
    pub theirs: [String; 2],
    /// The two series that ask the same on equal terms; none where the first way is equal already.
    pub equal: Option<[String; 2]>,
    /// What was reported.
    pub claims: Vec<Claim>,
    /// Repetitions in which one thing alone is changed.
    #[serde(default)]
    pub experiments: Vec<Experiment>,
}

impl Question {
    /// The series of equal terms: its own, or those of the way it was measured.
    #[must_use]
    pub fn on_equal_terms(&self) -> &[String; 2] {
        self.equal.as_ref().unwrap_or(&self.theirs)
    }

    /// Every series it needs.
    pub fn series(&self) -> impl Iterator<Item = &str> {
        let pairs = [Some(&self.theirs), self.equal.as_ref()];
        let experiments = self.experiments.iter().map(|one| &one.pair);
        (pairs.into_iter().flatten().chain(experiments))
            .flatten()
            .map(String::as_str)
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
}

/// What a claim is about; the unit is in the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Good answers per second.
    ThroughputRps,
    /// Mean latency.
    LatencyMeanMs,
    /// Median latency.
    LatencyP50Ms,
    /// 95th percentile.
    LatencyP95Ms,
    /// 99th percentile.
    LatencyP99Ms,
    /// Body or message of one answer.
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

/// A repetition that differs from the way it was measured in one thing.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// The one thing that is changed.
    pub changes: String,
    /// The two series; a side that is left alone is the same as in `theirs`.
    pub pair: [String; 2],
    /// What this thing does, and why it matters to the claim.
    pub cause: String,
}

/// A public comparison as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    letter: String,
    title: String,
    ran: String,
    advice: String,
    #[serde(default)]
    differs: Vec<String>,
    why: Option<String>,
    questions: Vec<Question>,
}

impl PublicComparison {
    /// Checks what is written at a place.
    ///
    /// # Errors
    /// When it has no questions, a question has no claims, a series is not `scenario@server@driver`, or a figure is negative.
    pub(super) fn check(table: Table, place: &Place, name: String) -> Result<Self, DeclareError> {
        let wrong = |key: &str, message: String| Err(place.wrong(key, message));
        if table.questions.is_empty() {
            return wrong("questions", "expected at least one question".into());
        }
        for (number, question) in table.questions.iter().enumerate() {
            let key = |rest: &str| format!("questions[{number}].{rest}");
            if question.claims.is_empty() {
                return wrong(&key("claims"), "expected at least one claim".into());
            }
            if let Some(id) = question.series().find(|id| id.split('@').count() != 3) {
                let message = format!("expected series such as \"scenario@server@driver\", found \"{id}\"");
                return wrong(&key("theirs"), message);
            }
            let figures = question.claims.iter().flat_map(|claim| claim.values);
            if let Some(value) = figures.into_iter().find(|value| !(value.is_finite() && *value >= 0.0)) {
                return wrong(&key("claims"), format!("expected figures from 0 up, found {value}"));
            }
        }
        Ok(Self {
            name,
            letter: table.letter,
            title: table.title,
            ran: table.ran,
            advice: table.advice,
            differs: table.differs,
            why: table.why,
            questions: table.questions,
        })
    }

    /// Every series it needs.
    #[must_use]
    pub fn series(&self) -> BTreeSet<&str> {
        self.questions.iter().flat_map(Question::series).collect()
    }

    /// Whether it is meant by this word: its letter or its name.
    #[must_use]
    pub fn is_called(&self, word: &str) -> bool {
        self.letter.eq_ignore_ascii_case(word) || self.name == word
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
"#;

    fn read(text: &str) -> Result<PublicComparison, String> {
        let place = Place::file(Path::new("claims/c.toml"));
        let table: Table = toml::from_str(text).map_err(|error| error.to_string())?;
        PublicComparison::check(table, &place, "c".into()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_public_comparison_names_the_series_that_test_it() {
        let read = read(WHOLE).unwrap();
        let expected = ["c@grpc@ghz", "c@http@ab", "c@http@ab-keepalive"];
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
                "1785",
                "-1",
                "questions[0].claims: expected figures from 0 up, found -1",
            ),
            ("throughput_rps", "speed", "unknown variant `speed`"),
            ("letter", "leter", "unknown field `leter`"),
        ] {
            let found = read(&WHOLE.replace(from, to)).unwrap_err();
            assert!(found.contains(said), "{found}");
        }
    }
}
