//! How variants are compared: what size of change must be seen, how long that may take, and which margin each metric has.

use std::path::Path;
use std::time::Duration;

use globset::{Glob, GlobMatcher};
use serde::Deserialize;

use crate::percent::Percent;
use crate::read::{DeclareError, Place};
use crate::span::Span;
use wirebench_record::comparison::LARGEST_MARGIN_PERCENT;
use wirebench_record::metric::{DefaultGate, LARGE_LOSS_PERCENT, Metric};

/// `[compare]` of `wirebench.toml`; every key has a default.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Compare {
    /// The worsening that rounds are planned to see.
    pub detect: Percent,
    /// Wall time for measuring both variants.
    pub budget: Span,
    /// Rounds of each variant in the first stage.
    pub rounds: u32,
    /// The default profile of a run with a baseline. Many short rounds give more precision than few long ones.
    pub profile: Option<String>,
    /// The reference, to which trends are ratios: a revision, a folder or a prebuilt command, as for `--reference`.
    pub reference: Option<String>,
}

impl Default for Compare {
    fn default() -> Self {
        Self {
            detect: Percent::of(5.0),
            budget: Span(Duration::from_mins(10)),
            rounds: 10,
            profile: None,
            reference: None,
        }
    }
}

/// One `[[margins]]` entry of `wirebench.toml`; of several that match, the last one holds.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MarginRule {
    /// Glob over series ids, `scenario@server@driver`.
    pub series: String,
    /// The metric; absent means every metric.
    pub metric: Option<Metric>,
    /// The worsening that is agreed to be ignored; absent leaves it as it was.
    pub margin: Option<Percent>,
    /// Whether a regression fails the gate; absent leaves it as it was.
    pub gate: Option<bool>,
}

/// The margin of one metric of one series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Margin {
    /// The worsening that is agreed to be ignored.
    pub margin: Percent,
    /// Whether a regression fails the gate. Never with a margin of 0 on a timed metric, which may only warn.
    pub gate: bool,
    /// Whether a rule of the project sets `gate`; defaults depend on the other gates.
    pub gate_declared: bool,
    /// The confirmed worsening from which an informative metric gates; `None` if it never does.
    pub gate_above: Option<Percent>,
}

impl Margin {
    /// The same margin of a metric that gates only from a large confirmed worsening on.
    pub const fn from_large_losses_on(self) -> Self {
        Self {
            gate: false,
            gate_above: Some(Percent::of(LARGE_LOSS_PERCENT)),
            ..self
        }
    }
}

/// Every margin of a project.
#[derive(Debug, Clone, Default)]
pub struct Margins {
    rules: Vec<(GlobMatcher, MarginRule)>,
}

impl Margins {
    /// Compiles the rules read from `file`.
    ///
    /// # Errors
    /// When a series is not a glob, or a rule sets nothing.
    pub fn new(file: &Path, rules: Vec<MarginRule>) -> Result<Self, DeclareError> {
        let mut compiled = Vec::new();
        for (index, rule) in rules.into_iter().enumerate() {
            let place = Place::table(file, format!("margins[{index}]"));
            let wrong = |source| place.wrong("series", format!("expected a glob such as \"*@http@*\": {source}"));
            let glob = Glob::new(&rule.series).map_err(wrong)?;
            let message = "expected a margin such as \"2%\", or gate = true or false";
            place.refuse_if(rule.margin.is_none() && rule.gate.is_none(), "margin", message)?;
            let is_too_large = rule.margin.map_or(0.0, Percent::percent) > LARGEST_MARGIN_PERCENT;
            let message = format!(
                "expected at most \"{LARGEST_MARGIN_PERCENT}%\"; what may double is not worth a margin: gate = false"
            );
            place.refuse_if(is_too_large, "margin", message)?;
            compiled.push((glob.compile_matcher(), rule));
        }
        Ok(Self { rules: compiled })
    }

    /// The margin of a metric in a series: the defaults of this program, overruled by every rule that matches, in order.
    pub fn of(&self, series: &str, metric: Metric) -> Margin {
        let mut found = default_of(metric);
        for (glob, rule) in &self.rules {
            if glob.is_match(series) && rule.metric.is_none_or(|own| own == metric) {
                found.margin = rule.margin.unwrap_or(found.margin);
                found.gate = rule.gate.unwrap_or(found.gate);
                found.gate_declared |= rule.gate.is_some();
            }
        }
        found.gate &= metric.is_counted() || found.margin.percent() > 0.0;
        found.gate_above = found.gate_above.filter(|_| !found.gate_declared);
        found
    }
}

/// The margin of a metric in a project without rules.
const fn default_of(metric: Metric) -> Margin {
    let row = metric.row();
    Margin {
        margin: Percent::of(row.margin_percent),
        gate: matches!(row.gate, DefaultGate::Always),
        gate_declared: false,
        gate_above: match row.gate {
            DefaultGate::Above(percent) => Some(Percent::of(percent)),
            DefaultGate::Always | DefaultGate::Never => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn margins(text: &str) -> Result<Margins, DeclareError> {
        #[derive(Deserialize)]
        struct File {
            margins: Vec<MarginRule>,
        }
        let file: File = toml::from_str(text).unwrap();
        Margins::new(Path::new("wirebench.toml"), file.margins)
    }

    #[test]
    fn without_rules_server_cpu_gates_at_one_percent_and_nothing_else_that_is_timed() {
        let none = Margins::default();
        let cpu = none.of("any@thing@here", Metric::ServerCpu);
        assert_eq!((cpu.margin.percent(), cpu.gate), (1.0, true));
        assert!(
            Metric::OF_SERVER[1..]
                .iter()
                .all(|metric| !none.of("any@thing@here", *metric).gate)
        );
    }

    #[test]
    fn throughput_and_latency_gate_from_ten_percent_on_unless_a_rule_says_whether_they_gate() {
        let rules = margins(
            "[[margins]]\nseries = 'a@*'\nmetric = 'throughput'\ngate = false\n\
             [[margins]]\nseries = 'b@*'\nmargin = '3%'\n",
        )
        .unwrap();
        let above = |series: &str, metric| rules.of(series, metric).gate_above.map(Percent::percent);
        assert_eq!(above("a@http@hey", Metric::Throughput), None);
        for metric in [Metric::Throughput, Metric::LatencyP50, Metric::LatencyP99] {
            assert_eq!(above("b@http@hey", metric), Some(10.0), "{metric:?}");
        }
        for metric in [Metric::ServerCpu, Metric::PeakRss, Metric::Instructions] {
            assert_eq!(above("b@http@hey", metric), None, "{metric:?}");
        }
    }

    #[test]
    fn counts_gate_at_one_percent_or_exactly_and_what_follows_from_the_build_informs() {
        let none = Margins::default();
        let of = |metric: Metric| {
            let found = none.of("count-weather@http@hey", metric);
            (found.margin.percent(), found.gate)
        };
        assert_eq!(
            Metric::COUNTED.map(of),
            [
                (1.0, true),
                (1.0, true),
                (1.0, true),
                (0.0, true),
                (0.0, true),
                (0.0, true),
                (1.0, false),
                (1.0, false),
                (1.0, false),
                (1.0, false)
            ]
        );
    }

    #[test]
    fn what_a_rule_says_of_the_gate_is_told_from_the_default() {
        let found = margins(
            "[[margins]]\nseries = 'a@*'\nmargin = '3%'\n\
             [[margins]]\nseries = 'b@*'\nmetric = 'server_cpu'\ngate = true\n",
        )
        .unwrap();
        let declared = |series: &str, metric| found.of(series, metric).gate_declared;
        assert!(!declared("a@http@hey", Metric::ServerCpu) && declared("b@http@hey", Metric::ServerCpu));
        assert!(!declared("b@http@hey", Metric::Throughput));
    }

    #[test]
    fn the_last_rule_that_matches_holds_and_leaves_alone_what_it_does_not_say() {
        let found = margins(
            "[[margins]]\nseries = '*'\nmetric = 'throughput'\nmargin = '4%'\n\
             [[margins]]\nseries = 'a@*@hey'\ngate = true\n",
        )
        .unwrap();
        let throughput = found.of("a@http@hey", Metric::Throughput);
        assert_eq!((throughput.margin.percent(), throughput.gate), (4.0, true));
        assert!(!found.of("b@http@hey", Metric::Throughput).gate);
    }

    #[test]
    fn a_margin_of_nothing_may_only_warn_unless_it_is_counted() {
        let found = margins("[[margins]]\nseries = '*'\nmargin = '0%'\ngate = true\n").unwrap();
        assert!(!found.of("a@b@c", Metric::ServerCpu).gate);
        assert!(found.of("a@b@c", Metric::Instructions).gate && found.of("a@b@c", Metric::PayloadBytes).gate);
    }

    #[test]
    fn a_rule_that_is_no_glob_or_says_nothing_is_refused_by_its_place() {
        for (text, place) in [
            ("[[margins]]\nseries = '['\nmargin = '1%'\n", "margins[0].series"),
            ("[[margins]]\nseries = '*'\n", "margins[0].margin"),
            ("[[margins]]\nseries = '*'\nmargin = '101%'\n", "margins[0].margin"),
        ] {
            let error = margins(text).unwrap_err().to_string();
            assert!(error.contains(place), "{error}");
        }
        assert!(margins("[[margins]]\nseries = '*'\nmargin = '100%'\n").is_ok());
    }
}
