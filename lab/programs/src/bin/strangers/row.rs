//! The result for one server, a line of docs/strangers.tsv.

use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::Context as _;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) name: String,
    /// Operations that init found.
    pub(crate) operations: usize,
    /// Questions that init left open.
    pub(crate) questions: usize,
    /// 1 if verify failed, so that the declarations need an edit by hand.
    pub(crate) edits: usize,
    /// Seconds of init, without building.
    pub(crate) init_s: i64,
    /// Seconds of building during init.
    pub(crate) build_s: i64,
    pub(crate) verify_s: i64,
    /// Seconds of the quick run, without building.
    pub(crate) quick_s: i64,
    pub(crate) quick_exit_code: i32,
    /// Seconds of the comparison, without building.
    pub(crate) comparison_s: i64,
    /// The verdict, the exit code of the gate and the change found.
    pub(crate) verdict: String,
    /// The load of the machine before the first command.
    pub(crate) load: String,
    /// The budget of the comparison.
    pub(crate) budget: String,
}

impl Row {
    /// Reads all rows; a missing file has none.
    pub(crate) fn read_all(file: &Path) -> anyhow::Result<Vec<Self>> {
        if !file.exists() {
            return Ok(Vec::new());
        }
        let text = fs::read_to_string(file)?;
        text.lines().map(Self::parse).collect()
    }

    fn parse(line: &str) -> anyhow::Result<Self> {
        let mut values = line.split('\t');
        let mut next = || {
            values
                .next()
                .with_context(|| format!("expected 13 columns in {line:?}"))
        };
        Ok(Self {
            name: next()?.to_owned(),
            operations: next()?.parse()?,
            questions: next()?.parse()?,
            edits: next()?.parse()?,
            init_s: next()?.parse()?,
            build_s: next()?.parse()?,
            verify_s: next()?.parse()?,
            quick_s: next()?.parse()?,
            quick_exit_code: next()?.parse()?,
            comparison_s: next()?.parse()?,
            verdict: next()?.to_owned(),
            load: next()?.to_owned(),
            budget: next()?.to_owned(),
        })
    }
}

impl fmt::Display for Row {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}",
            self.name,
            self.operations,
            self.questions,
            self.edits,
            self.init_s,
            self.build_s,
            self.verify_s,
            self.quick_s,
            self.quick_exit_code,
            self.comparison_s,
            self.verdict,
            self.load,
            self.budget
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_recorded_row_is_read_and_written_unchanged() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/strangers.tsv");
        let rows = Row::read_all(&file).unwrap();
        let written: String = rows.iter().map(|row| format!("{row}\n")).collect();
        assert_eq!(written, fs::read_to_string(file).unwrap());
    }
}
