//! The checks that a round failed: kinds with their numbers, and a sentence for each.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One check that a round failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum FailedCheck {
    /// Requests failed, for the reasons in `errors` of the round.
    RequestsFailed {
        /// Requests that failed.
        failed: u64,
        /// Requests that ended, well or not.
        of: u64,
    },
    /// No answer was good.
    NoGoodAnswer,
    /// A timed round of a closed loop had too few good answers for a stable figure.
    TooFewRequests {
        /// Good answers.
        made: u64,
        /// Good answers that a round needs.
        needed: u64,
        /// Length of the round, ns.
        duration_ns: u64,
    },
    /// The driver did more or less than it was asked for.
    AmountDiffers {
        /// The unit of the amount.
        what: Counted,
        /// How many were asked for.
        asked: u64,
        /// How many there were.
        made: u64,
    },
    /// A timed load made more requests than load generators keep latencies of.
    TooManyRequests {
        /// The most they keep.
        most: u64,
    },
    /// The driver spoke another protocol than planned.
    ProtocolDiffers {
        /// The protocol that it reported.
        spoken: String,
        /// What was planned.
        planned: String,
    },
    /// A quantile of the latency is above a higher one.
    QuantilesOutOfOrder,
    /// The server held another number of connections than asked for.
    ConnectionsDiffer {
        /// How many were asked for.
        asked: u32,
        /// How many were seen.
        seen: u32,
    },
    /// The driver does not say how long the load took.
    NoElapsedTime,
    /// Little's law: throughput × mean latency does not fit the number of workers.
    InFlight {
        /// Good answers per second, rounded.
        per_second: u64,
        /// Whether a pause after each answer counts as in flight too.
        with_pause: bool,
        /// Requests in flight on average, ‰ of the workers.
        permille: u32,
        /// The workers.
        workers: u32,
        /// The least that is believed, percent.
        at_least_percent: u32,
        /// The most that is believed, percent.
        at_most_percent: u32,
    },
    /// The rate that an open loop offers is not known.
    RateUnknown,
    /// An open loop did not achieve the rate it offers.
    RateMissed {
        /// The rate offered, requests/s.
        offered: u32,
        /// The share achieved, ‰.
        achieved_permille: u32,
    },
    /// An open loop dropped requests that were due.
    RequestsDropped {
        /// Requests that were dropped.
        dropped: u64,
        /// Requests that were due.
        due: u64,
    },
    /// The server did not answer rightly any more when the load was over.
    WrongAfterwards {
        /// What the probe found.
        found: String,
    },
    /// The load pods of a cluster did not send the requested load.
    LoadPods {
        /// What was found.
        found: String,
    },
}

/// What an amount counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Counted {
    /// Requests.
    Requests,
    /// Starts of the server.
    Starts,
    /// Samples of a benchmark.
    Samples,
}

impl FailedCheck {
    /// True if it tells of the server and not of the machine: another round would fail it too.
    pub fn is_of_the_server(&self) -> bool {
        match self {
            Self::NoGoodAnswer | Self::ProtocolDiffers { .. } => true,
            Self::ConnectionsDiffer { asked, seen } => seen > asked,
            _ => false,
        }
    }

    /// The check as a clause of a sentence; `errors` are those of the round.
    pub fn sentence(&self, errors: &BTreeMap<String, u64>) -> String {
        match self {
            Self::RequestsFailed { failed, of } => {
                let kinds: Vec<String> = errors.iter().map(|(kind, count)| format!("{count} × {kind}")).collect();
                format!("{failed} of {of} requests failed ({})", kinds.join(", "))
            }
            Self::NoGoodAnswer => "no good answer".into(),
            Self::TooFewRequests {
                made,
                needed,
                duration_ns,
            } => {
                let seconds = duration_ns.div_ceil(1_000_000_000);
                let enough = (duration_ns * needed.div_ceil((*made).max(1))).div_ceil(1_000_000_000);
                format!(
                    "{made} good requests in {seconds} s are fewer than the {needed} that a round needs; set load.duration to \
                     {enough}s or more, or load.requests"
                )
            }
            Self::AmountDiffers { what, asked, made } => {
                let (what, made_so) = match what {
                    Counted::Requests => ("requests", "sent"),
                    Counted::Starts => ("starts", "made"),
                    Counted::Samples => ("samples", "taken"),
                };
                format!("{asked} {what} were asked for, {made} were {made_so}")
            }
            Self::TooManyRequests { most } => {
                let most = grouped(*most);
                format!("{most} requests or more: load generators keep no more latencies; shorten load.duration")
            }
            Self::ProtocolDiffers { spoken, planned } => format!("the driver spoke {spoken}, not {planned}"),
            Self::QuantilesOutOfOrder => "latency quantiles are out of order".into(),
            Self::ConnectionsDiffer { asked, seen } => format!("{asked} connections were asked for, {seen} were seen"),
            Self::NoElapsedTime => "the driver reports no elapsed time".into(),
            Self::InFlight {
                per_second,
                with_pause,
                permille,
                workers,
                at_least_percent,
                at_most_percent,
            } => {
                let pause = if *with_pause { " and pause" } else { "" };
                // Requests under way when a round ends count in no latency: slow or large answers show there first.
                let advice = if permille / 10 < *at_least_percent {
                    "requests still under way at the end are missing: use fewer connections, a longer load.duration, \
                     load.requests instead of it, or another load generator"
                } else {
                    "the load generator has more in flight than it was asked for: use another load generator"
                };
                let (whole, tenths) = (permille / 10, permille % 10);
                format!(
                    "Little's law: {per_second} requests/s × the mean latency{pause} are {whole}.{tenths} % of {workers} workers, \
                     expected {at_least_percent} to {at_most_percent} %; {advice}"
                )
            }
            Self::RateUnknown => "the rate it was meant to offer is not known".into(),
            Self::RateMissed {
                offered,
                achieved_permille,
            } => {
                let (whole, tenths) = (achieved_permille / 10, achieved_permille % 10);
                format!("only {whole}.{tenths} % of the offered {offered} requests/s was achieved")
            }
            Self::RequestsDropped { dropped, due } => {
                format!("{dropped} of {due} requests were dropped: no connection was free to send them")
            }
            Self::WrongAfterwards { found } => format!("after the load: {found}"),
            Self::LoadPods { found } => found.clone(),
        }
    }
}

/// A number with a comma after every three digits.
fn grouped(number: u64) -> String {
    if number < 1000 {
        return number.to_string();
    }
    format!("{},{:03}", grouped(number / 1000), number % 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_said_with_its_numbers_and_read_again() {
        let errors = BTreeMap::from([("status 500".to_owned(), 50)]);
        for (check, json, sentence) in [
            (
                FailedCheck::RequestsFailed { failed: 50, of: 90 },
                r#"{"kind":"requests_failed","failed":50,"of":90}"#,
                "50 of 90 requests failed (50 × status 500)",
            ),
            (
                FailedCheck::AmountDiffers {
                    what: Counted::Starts,
                    asked: 20,
                    made: 19,
                },
                r#"{"kind":"amount_differs","what":"starts","asked":20,"made":19}"#,
                "20 starts were asked for, 19 were made",
            ),
            (
                FailedCheck::TooManyRequests { most: 1_000_000 },
                r#"{"kind":"too_many_requests","most":1000000}"#,
                "1,000,000 requests or more: load generators keep no more latencies; shorten load.duration",
            ),
            (
                FailedCheck::RateMissed {
                    offered: 9_000,
                    achieved_permille: 975,
                },
                r#"{"kind":"rate_missed","offered":9000,"achieved_permille":975}"#,
                "only 97.5 % of the offered 9000 requests/s was achieved",
            ),
            (
                FailedCheck::NoGoodAnswer,
                r#"{"kind":"no_good_answer"}"#,
                "no good answer",
            ),
        ] {
            assert_eq!(check.sentence(&errors), sentence);
            assert_eq!(serde_json::to_string(&check).unwrap(), json);
            assert_eq!(serde_json::from_str::<FailedCheck>(json).unwrap(), check);
        }
    }
}
