//! A table before any markup: columns and cells are decided once, then written for a terminal or as Markdown.

use comfy_table::{CellAlignment, LineStyle, TableStyle};

/// A column of a table.
#[derive(Debug, Clone)]
pub struct Column {
    /// Its head in a terminal, which may have several lines; `None` for a column of Markdown alone.
    terminal: Option<String>,
    /// Its head in Markdown; `None` for a column of terminals alone.
    markdown: Option<String>,
    /// Whether it holds numbers, which are aligned to the right.
    numbers: bool,
    /// Narrow terminals leave out the columns of priority 1 first, then those of 2, and so on; 0 is always shown.
    priority: u8,
}

/// A column of words.
pub fn text(head: impl Into<String>) -> Column {
    let head = head.into();
    Column {
        markdown: Some(head.replace('\n', " ")),
        terminal: Some(head),
        numbers: false,
        priority: 0,
    }
}

/// A column of numbers.
pub fn number(head: impl Into<String>) -> Column {
    Column {
        numbers: true,
        ..text(head)
    }
}

/// The head of a column in two lines, broken at its last space: `server CPU/req`, `wire bytes sent`.
pub fn in_two_lines(head: &str) -> String {
    head.rsplit_once(' ')
        .map_or_else(|| head.to_owned(), |(first, second)| format!("{first}\n{second}"))
}

impl Column {
    /// The same column with another head in Markdown.
    pub fn in_markdown(mut self, head: &str) -> Self {
        self.markdown = Some(head.to_owned());
        self
    }

    /// The same column, in Markdown alone.
    pub fn markdown_only(mut self) -> Self {
        self.terminal = None;
        self
    }

    /// The same column, in terminals alone.
    pub fn terminal_only(mut self) -> Self {
        self.markdown = None;
        self
    }

    /// The same column, left out of narrow terminals: those with the smallest number first.
    pub fn dispensable(mut self, priority: u8) -> Self {
        self.priority = priority;
        self
    }
}

/// A column, and what writes its cell of a row.
pub type Field<R> = (Column, Box<dyn Fn(&R) -> String>);

impl Column {
    /// The column with its cells.
    pub fn with<R>(self, cell: impl Fn(&R) -> String + 'static) -> Field<R> {
        (self, Box::new(cell))
    }
}

/// A table: each row has a cell for every column.
#[derive(Debug, Clone)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table of these columns and rows.
    pub fn new<R: Into<Vec<String>>>(columns: impl Into<Vec<Column>>, rows: impl IntoIterator<Item = R>) -> Self {
        Self {
            columns: columns.into(),
            rows: rows.into_iter().map(Into::into).collect(),
        }
    }

    /// A table of these rows.
    pub fn of<'a, R: 'a>(rows: impl IntoIterator<Item = &'a R>, fields: Vec<Field<R>>) -> Self {
        let (columns, cells): (Vec<Column>, Vec<_>) = fields.into_iter().unzip();
        let row = |row| cells.iter().map(|cell| cell(row)).collect::<Vec<String>>();
        Self::new(columns, rows.into_iter().map(row))
    }

    /// Whether it has no rows.
    pub const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table in Markdown: heads, alignment, and a line for each row.
    pub fn markdown(&self) -> String {
        let (mut heads, mut rule) = (String::new(), String::new());
        for column in &self.columns {
            let Some(head) = &column.markdown else { continue };
            let space = if head.is_empty() { "" } else { " " };
            heads += &format!("| {head}{space}");
            rule += if column.numbers { "|--:" } else { "|---" };
        }
        let mut out = format!("{heads}|\n{rule}|\n");
        for row in &self.rows {
            let cells = row.iter().zip(&self.columns);
            let shown = cells.filter(|(_, column)| column.markdown.is_some());
            out.extend(shown.map(|(cell, _)| format!("| {cell} ")));
            out += "|\n";
        }
        out
    }

    /// The table for a terminal with as many columns as fit into `width`; `None` means unlimited.
    pub fn terminal(&self, width: Option<u16>) -> String {
        let narrowest = self.columns.iter().map(|column| column.priority).max().unwrap_or(0);
        let fits = |table: &String| {
            let longest = table.lines().map(|line| line.chars().count()).max();
            longest.unwrap_or(0) <= width.map_or(usize::MAX, usize::from)
        };
        (0..narrowest)
            .map(|left_out| self.drawn(left_out))
            .find(fits)
            .unwrap_or_else(|| self.drawn(narrowest))
    }

    /// The table for a terminal without the columns up to a priority.
    fn drawn(&self, left_out: u8) -> String {
        let shown = |column: &Column| column.priority == 0 || column.priority > left_out;
        let shown: Vec<(usize, &Column, &String)> = (self.columns.iter().enumerate())
            .filter(|(_, column)| shown(column))
            .filter_map(|(index, column)| Some((index, column, column.terminal.as_ref()?)))
            .collect();
        let mut table = comfy_table::Table::new();
        // Escapes of styled lines would be counted as characters when the width is compared.
        table.force_no_tty();
        table.load_style(TableStyle::new().header_separator(LineStyle::new('─', '─', '─', '─')));
        table.set_header(shown.iter().map(|(.., head)| *head));
        for row in &self.rows {
            table.add_row(shown.iter().map(|(index, ..)| &row[*index]));
        }
        for (drawn, (_, column, _)) in table.column_iter_mut().zip(&shown) {
            drawn.set_padding((0, 1));
            if column.numbers {
                drawn.set_cell_alignment(CellAlignment::Right);
            }
        }
        table.trim_fmt() + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let columns = [
            text("").markdown_only(),
            text("server"),
            number("wire\nbytes").dispensable(1),
            number("CPU").in_markdown("CPU per request"),
            text("note").terminal_only(),
        ];
        let row = ["✓", "http", "163 B", "12.1 µs", "a"].map(str::to_owned);
        Table::new(columns, [row])
    }

    #[test]
    fn markdown_has_its_own_heads_and_columns() {
        assert_eq!(
            table().markdown(),
            "| | server | wire bytes | CPU per request |\n|---|---|--:|--:|\n| ✓ | http | 163 B | 12.1 µs |\n"
        );
    }

    #[test]
    fn a_narrow_terminal_has_fewer_columns() {
        let (wide, narrow) = (table().terminal(None), table().terminal(Some(24)));
        assert!(wide.contains("163 B") && !wide.contains('✓'), "{wide}");
        assert!(!narrow.contains("163 B") && narrow.contains("12.1 µs"), "{narrow}");
        assert!(narrow.lines().all(|line| line.chars().count() <= 24), "{narrow}");
    }
}
