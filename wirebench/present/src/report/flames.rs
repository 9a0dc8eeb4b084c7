//! Flame graphs of a counted metric or of sampled time as SVG: baseline, candidate, and the difference of the two. Each opens from
//! disk in a browser: point at a frame to see its figure, click it to zoom in.

use std::fs;
use std::io;
use std::path::Path;

use inferno::differential;
use inferno::flamegraph::{Options, from_lines};

use wirebench_record::metric::Metric;

/// The folder of all flame graphs, in a run's folder.
pub const FOLDER: &str = "flames";

/// Pictures that were drawn, as paths relative to the run's folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flames {
    /// The baseline's graph.
    pub baseline: String,
    /// The candidate's graph.
    pub candidate: String,
    /// The candidate's graph, red where it costs more than the baseline and blue where it costs less.
    pub difference: String,
}

/// Draws the three graphs of a metric of a series into `folder`/flames/`series`/. The stacks are folded: a line for each,
/// `outer;inner 123`, in whole units of the metric per 1,000 requests; of a timed metric, sampled ns.
///
/// # Errors
/// If the series' name is not valid as the name of a folder, the stacks have no line of that form, or a file cannot be written.
pub fn write(folder: &Path, series: &str, metric: Metric, baseline: &str, candidate: &str) -> io::Result<Flames> {
    if !is_name(series) {
        let message = format!("{series:?} is no name of a series, and no folder is made for it");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    let (baseline, candidate) = (printable(baseline), printable(candidate));
    let mut both = Vec::new();
    differential::from_readers(
        differential::Options::default(),
        baseline.as_bytes(),
        candidate.as_bytes(),
        &mut both,
    )?;
    let both = String::from_utf8_lossy(&both);
    fs::create_dir_all(folder.join(FOLDER).join(series))?;
    let draw = |what: &str, about: &str, stacks: &str| {
        let relative = format!("{FOLDER}/{series}/{}-{what}.svg", metric.name());
        let unit = if metric.is_timed() { "sampled ns" } else { metric.unit() };
        let unit = format!("{unit} per 1,000 requests");
        let mut options = Options::default();
        options.title = format!("{series}: {}, {what}", metric.label());
        options.subtitle = Some(format!("{unit}; {about}"));
        options.count_name = unit;
        // Equal stacks give equal pictures.
        options.deterministic = true;
        let mut picture = Vec::new();
        from_lines(&mut options, stacks.lines(), &mut picture)?;
        fs::write(folder.join(&relative), picture)?;
        io::Result::Ok(relative)
    };
    let alone = "the wider, the more";
    Ok(Flames {
        baseline: draw("baseline", alone, &baseline)?,
        candidate: draw("candidate", alone, &candidate)?,
        difference: draw(
            "difference",
            "as wide as on the candidate; red costs more than on the baseline, blue less",
            &both,
        )?,
    })
}

/// Whether a series may name a folder; every series of a plan does.
fn is_name(series: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "@_-".contains(c);
    !series.is_empty() && series.len() <= 200 && series.chars().all(allowed)
}

/// The text without control characters other than line breaks: XML must not contain them.
fn printable(folded: &str) -> String {
    folded.replace(|c: char| c.is_control() && c != '\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERIES: &str = "count-weather@http@hey";
    const BASELINE: &str = "main;serve;encode<T> 900\nmain;serve;gone 50\nmain;idle 50\n";
    const CANDIDATE: &str = "main;serve;encode<T> 900\nmain;serve;waste&\"burn\" 165\nmain;idle 40\n";

    fn read(folder: &Path, relative: &str) -> String {
        fs::read_to_string(folder.join(relative)).unwrap()
    }

    #[test]
    fn three_pictures_are_drawn_with_title_unit_and_escaped_names() {
        let folder = tempfile::tempdir().unwrap();
        let drawn = write(folder.path(), SERIES, Metric::Instructions, BASELINE, CANDIDATE).unwrap();
        assert_eq!(
            drawn.difference,
            "flames/count-weather@http@hey/instructions-difference.svg"
        );
        for picture in [&drawn.baseline, &drawn.candidate, &drawn.difference] {
            let text = read(folder.path(), picture);
            assert!(
                text.contains(SERIES) && text.contains("instructions per 1,000 requests"),
                "{picture}"
            );
            assert!(
                text.contains("encode&lt;T&gt;") && !text.contains("encode<T>"),
                "{picture}"
            );
        }
        let difference = read(folder.path(), &drawn.difference);
        assert!(difference.contains("waste&amp;&quot;burn&quot;") || difference.contains("waste&amp;\"burn\""));
        assert!(difference.contains("red costs more"));
        assert!(!read(folder.path(), &drawn.baseline).contains("waste"));
    }

    #[test]
    fn equal_stacks_give_equal_pictures() {
        let draw = || {
            let folder = tempfile::tempdir().unwrap();
            let drawn = write(folder.path(), SERIES, Metric::Allocations, BASELINE, BASELINE).unwrap();
            read(folder.path(), &drawn.candidate)
        };
        assert_eq!(draw(), draw());
    }

    #[test]
    fn text_without_stacks_and_names_that_lead_elsewhere_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("run");
        for (series, text) in [
            (SERIES, ""),
            (SERIES, "no figure here"),
            ("../elsewhere", BASELINE),
            ("", BASELINE),
        ] {
            assert!(
                write(&inside, series, Metric::Instructions, text, text).is_err(),
                "{series} {text}"
            );
        }
        assert!(!folder.path().join("elsewhere").exists());
        let drawn = write(&inside, SERIES, Metric::Instructions, "a\u{7};b\u{1b} 3\n", "a 3\n").unwrap();
        let text = read(&inside, &drawn.baseline);
        assert!(!text.contains('\u{7}') && !text.contains('\u{1b}'));
    }
}
