//! The page docs/STRANGERS.md.

use std::thread::available_parallelism;

use jiff::Timestamp;

use crate::row::Row;

const HEAD: &str = r#"# Strangers: what happens to a server that nobody here wrote?

Each server below is a small program in the shape its community uses ([wirebench/cli/tests/fixtures/strangers](../../wirebench/cli/tests/fixtures/strangers)). `lab/scripts/strangers.sh` takes it from nothing to a verdict and wrote this page:
`wirebench init`, `wirebench verify`, `wirebench run --profile quick`; then each request gets more to do (a loop in the source), `wirebench run --profile quick --baseline HEAD --budget TIME`, `wirebench gate`. What init wrote is not edited.
Times are seconds of waiting; building is left out of them and has a column of its own. "First verdict" is init, verify and the comparison together, in minutes; a comparison counts first, and its budget is for the timed rounds after that.

| server | operations | questions | hand edits | init | building | verify | quick run | budget | comparison | first verdict | says of the slowdown | load |
|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|--:|
"#;

/// The first line of the part that is written by hand.
const BY_HAND: &str = "## Real repositories";

/// The part of a page that is written by hand; empty if it has none.
pub(crate) fn by_hand(page: &str) -> &str {
    page.find(BY_HAND).map_or("", |start| &page[start..])
}

/// Renders the page, with the part of the page before that is written by hand.
#[expect(clippy::cast_precision_loss, reason = "seconds of an hour")]
pub(crate) fn render(rows: &[Row], by_hand: &str) -> String {
    let mut page = HEAD.to_owned();
    for row in rows {
        let first_verdict = (row.init_s + row.verify_s + row.comparison_s) as f64 / 60.0;
        let quick = match row.quick_exit_code {
            0 => format!("{} s", row.quick_s),
            code => format!("{} s (exit {code})", row.quick_s),
        };
        page += &format!(
            "| {} | {} | {} | {} | {} s | {} s | {} s | {quick} | {} | {} s | {first_verdict:.1} min | {} | {} |\n",
            row.name,
            row.operations,
            row.questions,
            row.edits,
            row.init_s,
            row.build_s,
            row.verify_s,
            row.budget,
            row.comparison_s,
            row.verdict,
            row.load
        );
    }
    page + &foot() + "\n" + by_hand
}

fn foot() -> String {
    let cores = available_parallelism().map_or(1, usize::from);
    let date = Timestamp::now().strftime("%Y-%m-%d");
    format!(
        r#"
"Load" is how many programs wanted a core of this machine just before ({cores} cores; {date}). A load above 1 means that something else ran as well, which makes times longer and verdicts less certain.
The change named is one that is called regressed: instructions per request where they can be counted (Rust), server CPU per request elsewhere. Another metric there, such as system calls, means that server CPU was not confirmed, and that the verdict is right for a wrong reason.
"#
    )
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_recorded_rows_make_the_recorded_page() {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
        let page = std::fs::read_to_string(docs.join("STRANGERS.md")).unwrap();
        let rendered = render(&Row::read_all(&docs.join("strangers.tsv")).unwrap(), by_hand(&page));
        assert!(by_hand(&page).contains("| repository |"), "{page}");
        let without_machine = |page: &str| -> Vec<String> {
            let lines = page.lines().filter(|line| !line.starts_with("\"Load\" is"));
            lines.map(str::to_owned).collect()
        };
        assert_eq!(without_machine(&rendered), without_machine(&page));
    }
}
