//! The comment of the second stage: the comparison's Markdown in short, with a marker to find it by, and a sentence on who measured it.
//! For admitted comparisons only.

use crate::report::comparison::{headline, markdown};
use crate::report::escape::{MARKDOWN, code};
use wirebench_judge::summary::comparison::Findings;
use wirebench_record::comparison::Comparison;
use wirebench_record::run::short_commit;

/// The most bytes of a comment: below the 65,536 characters that GitHub accepts, whatever it counts.
pub const LIMIT: usize = 60_000;

/// Where a comparison comes from.
#[derive(Debug, Clone, Copy)]
pub struct About<'a> {
    /// An HTML comment, the first line.
    pub marker: &'a str,
    /// The commit that was measured, as the event names it.
    pub head: &'a str,
    /// The number of the run that measured it.
    pub run: u64,
    /// The page of that run.
    pub page: &'a str,
}

/// The comment, at most [`LIMIT`] bytes.
pub fn render(comparison: &Comparison, about: &About) -> String {
    let marker = format!("{}\n", about.marker);
    let room = LIMIT.saturating_sub(marker.len());
    marker + &markdown::within(comparison, room, Some(&format!("{} ", origin(about))))
}

/// A few lines for a check, as Markdown.
pub fn summary(comparison: &Comparison, about: &About) -> String {
    let findings = Findings::of(comparison);
    format!(
        "{}\n\n{}\n",
        headline::summary(comparison, &findings, MARKDOWN),
        origin(about)
    )
}

fn origin(about: &About) -> String {
    format!(
        "Measured by this pull request's own code at {}, in [run {}]({}). Whoever wrote the code could also have written the \
         numbers.",
        code(short_commit(about.head)),
        about.run,
        about.page
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_testing::golden;

    const ABOUT: About = About {
        marker: "<!-- wirebench: x -->",
        head: "b81e05d44c7f9a236e10bb58cf7214d90a3e6d72",
        run: 7,
        page: "https://github.com/o/r/actions/runs/7",
    };

    fn lines_before_folds(text: &str) -> usize {
        text.lines().take_while(|line| !line.starts_with("<details>")).count()
    }

    #[test]
    fn a_comment_on_equal_code_has_six_lines_and_four_kilobytes_however_many_series_there_are() {
        let mut comparison = golden("unchanged");
        let one = comparison.series[0].clone();
        for number in 0..200 {
            let mut series = one.clone();
            series.id = format!("scenario-{number}@http@hey");
            comparison.series.push(series);
        }
        for equal in [
            golden("unchanged"),
            golden("counted-unchanged"),
            golden("same-program"),
            comparison,
        ] {
            let text = render(&equal, &ABOUT);
            assert!(
                lines_before_folds(&text) <= 6 && text.len() <= 4096,
                "{} bytes:\n{text}",
                text.len()
            );
        }
    }

    #[test]
    fn what_is_certainly_worse_within_its_margin_is_never_called_unchanged() {
        use crate::report::comparison::{markdown, terminal};
        use wirebench_record::comparison::Verdict;
        use wirebench_record::reason::MetricReason;
        let mut comparison = golden("unchanged");
        let metric = &mut comparison.series[0].metrics[0];
        assert_eq!(metric.verdict, Verdict::Unchanged);
        metric.reason = MetricReason::WorseWithinMargin {
            percent: 4.9,
            margin: 5.0,
        };
        let text = markdown::render(&comparison);
        assert!(
            text.contains("| worse, within the margin of 5 %: at most 4.9 % |"),
            "{text}"
        );
        let text = render(&comparison, &ABOUT);
        assert!(text.contains("Also 1 worse within the margin."), "{text}");
        let text = terminal::render(&comparison, None);
        assert!(text.contains("= worse, within the margin of 5 %"), "{text}");
        assert!(text.contains("1 worse within the margin"), "{text}");
    }

    #[test]
    fn a_comment_on_a_change_of_one_function_has_twenty_five_lines_before_folds() {
        for changed in ["counted-regressed", "regressed", "improved", "new-call"] {
            let text = render(&golden(changed), &ABOUT);
            assert!(lines_before_folds(&text) <= 25, "{text}");
        }
    }

    #[test]
    fn two_thousand_series_fit_with_everything_around_them() {
        let mut comparison = golden("regressed");
        let one = comparison.series[0].clone();
        let numbered = |number: u32| wirebench_record::comparison::ComparedSeries {
            id: format!("scenario-{number}@http@hey"),
            ..one.clone()
        };
        comparison.series = (0..2000).map(numbered).collect();
        let about = About {
            marker: "<!-- wirebench: x -->",
            head: &"a".repeat(40),
            run: 7,
            page: "https://github.com/o/r/actions/runs/7",
        };
        let text = render(&comparison, &about);
        assert!(text.len() <= LIMIT && text.len() > LIMIT / 2, "{} bytes", text.len());
        assert!(text.starts_with("<!-- wirebench: x -->\n### wirebench: ✗ Regressed\n"));
        assert!(text.contains("own code at `aaaaaaaaaaaa`, in [run 7](https://github.com/o/r/actions/runs/7)"));
        assert!(text.contains("Cut to fit: all of it is in comparison.json"));
    }
}
