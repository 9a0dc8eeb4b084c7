//! A table for a terminal that leaves out columns rather than break lines.

use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};

/// The head of a column in two lines, broken at the last space: `server CPU/req`, `wire bytes sent`.
pub(super) fn in_two_lines(head: &str) -> String {
    head.rsplit_once(' ')
        .map_or_else(|| head.to_owned(), |(first, second)| format!("{first}\n{second}"))
}

/// The columns of one kind of table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Columns<'a> {
    /// Their heads.
    pub(super) heads: &'a [&'a str],
    /// Those that hold words; the others hold numbers and stand to the right.
    pub(super) text: &'a [&'a str],
    /// What is left out of a narrow terminal: each entry a set of heads, the first tried first; every file has them all.
    pub(super) dispensable: &'a [&'a [&'a str]],
}

impl Columns<'_> {
    /// The lines with as many columns as fit into `width`, none meaning unlimited.
    pub(super) fn fitting(&self, lines: &[Vec<String>], width: Option<u16>) -> Table {
        let fits = |table: &Table| {
            let longest = table.lines().map(|line| line.trim_end().chars().count()).max();
            longest.unwrap_or(0) <= width.map_or(usize::MAX, usize::from)
        };
        let narrowest = || self.table(lines, self.dispensable.last().unwrap_or(&[].as_slice()));
        self.dispensable
            .iter()
            .map(|without| self.table(lines, without))
            .find(fits)
            .unwrap_or_else(narrowest)
    }

    fn table(&self, lines: &[Vec<String>], without: &[&str]) -> Table {
        let shown: Vec<usize> = (0..self.heads.len())
            .filter(|index| !without.contains(&self.heads[*index]))
            .collect();
        let mut table = Table::new();
        // Styled lines would be counted with their escapes when the width is compared.
        table.force_no_tty();
        table.load_style(TableStyle::new().header_separator(LineStyle::new('─', '─', '─', '─')));
        table.set_header(shown.iter().map(|index| self.heads[*index]));
        for line in lines {
            table.add_row(shown.iter().map(|index| &line[*index]));
        }
        for (column, index) in table.column_iter_mut().zip(shown) {
            column.set_padding((0, 1));
            if !self.text.contains(&self.heads[index]) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        table
    }
}
