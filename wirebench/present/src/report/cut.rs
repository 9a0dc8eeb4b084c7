//! Cuts Markdown to a number of bytes, at the end of a table row or of a paragraph, and closes everything that is open there.

/// The text if it fits into `bytes`; otherwise as many whole lines as fit, then a sentence with `rest`, for example
/// `the rest is in report.md`. Blocks of code are kept whole or left out, open folded parts are closed.
pub fn within(text: &str, bytes: usize, rest: &str) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let sentence = format!("\nCut to fit: {rest}.\n");
    let mut kept = (0, String::new());
    let mut end = 0;
    // How many folded parts are open, and whether a block of code is.
    let (mut folded, mut in_code) = (0_usize, false);
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        end += line.len();
        if line.starts_with("```") {
            in_code = !in_code;
        }
        if !in_code {
            folded += line.matches("<details>").count();
            folded = folded.saturating_sub(line.matches("</details>").count());
        }
        let closing = CLOSE.repeat(folded);
        if end + closing.len() + sentence.len() > bytes {
            break;
        }
        let is_rule_next = lines.peek().copied().is_some_and(is_rule);
        // The text may be cut after a row of a table that is not its head, and at the end of a paragraph.
        let is_row = line.starts_with('|') && !is_rule(line) && !is_rule_next;
        if !in_code && (is_row || line.trim().is_empty()) {
            kept = (end, closing);
        }
    }
    let (end, closing) = kept;
    let kept = text[..end].trim_end_matches('\n');
    let line = if kept.is_empty() { "" } else { "\n" };
    format!("{kept}{line}{closing}{sentence}")
}

const CLOSE: &str = "\n</details>\n";

/// The line between a table's head and its rows.
fn is_rule(line: &str) -> bool {
    line.starts_with("|-") || line.starts_with("|:")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, proptest};
    use proptest::strategy::Strategy;

    use super::*;

    const REPORT: &str = "# run\n\nwords\n\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\n<details><summary>more</summary>\n\n\
                          | c |\n|---|\n| 5 |\n| 6 |\n\n</details>\n\n```sh\none\n\ntwo\n```\n\n\
                          | d |\n|---|\n| a row that is long enough for all tests above it to be cut before |\n";

    const SENTENCE: &str = "\nCut to fit: it is elsewhere.\n";

    #[test]
    fn what_fits_is_left_as_it_is() {
        assert_eq!(within(REPORT, REPORT.len(), "it is elsewhere"), REPORT);
    }

    #[test]
    fn a_table_is_cut_between_rows_and_says_so() {
        let first = REPORT.find("| 3 |").unwrap();
        let cut = within(REPORT, first + SENTENCE.len() + 5, "it is elsewhere");
        assert_eq!(
            cut,
            "# run\n\nwords\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nCut to fit: it is elsewhere.\n"
        );
    }

    #[test]
    fn a_head_without_rows_is_left_out_and_what_is_open_is_closed() {
        let head = REPORT.find("| 5 |").unwrap() + CLOSE.len() + SENTENCE.len();
        let without = within(REPORT, head, "it is elsewhere");
        assert!(
            without.contains("more</summary>") && !without.contains("| c |"),
            "{without}"
        );
        let with = within(REPORT, head + "| 5 |\n".len(), "it is elsewhere");
        assert!(with.contains("| 5 |\n\n</details>\n\nCut to fit"), "{with}");
    }

    #[test]
    fn one_line_that_is_too_long_leaves_only_the_sentence() {
        let cut = within(&"x".repeat(5000), 100, "it is elsewhere");
        assert_eq!(cut, SENTENCE);
    }

    fn lines() -> impl Strategy<Value = String> {
        let line = proptest::sample::select(
            &[
                "| a | b |",
                "|---|---|",
                "",
                "words",
                "```",
                "<details><summary>x</summary>",
                "</details>",
                "# head",
            ][..],
        );
        proptest::collection::vec(line, 0..60).prop_map(|lines| lines.join("\n") + "\n")
    }

    proptest! {
        #[test]
        fn it_always_fits_and_nothing_stays_open_that_was_cut(text in lines(), bytes in 60usize..400) {
            let cut = within(&text, bytes, "it is elsewhere");
            prop_assert!(cut.len() <= bytes);
            if cut != text {
                let fences = cut.lines().filter(|line| line.starts_with("```")).count();
                prop_assert!(fences % 2 == 0, "{cut}");
                prop_assert!(cut.ends_with("it is elsewhere.\n"));
            }
        }
    }
}
