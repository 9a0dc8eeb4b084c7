//! A table or list of a comment, cut to the room that is left in it.

use crate::report::table::Table;

/// A table or list that can be cut.
pub(super) struct Block {
    /// The text before the rows, such as a title and the head of a table.
    open: String,
    rows: Vec<String>,
    close: &'static str,
    /// The share of the room left that it may take, percent.
    share: usize,
}

impl Block {
    /// A table that is always visible.
    pub(super) fn table(table: &Table, share: usize) -> Self {
        Self {
            open: table.markdown_head(),
            rows: table.markdown_rows().collect(),
            close: "\n",
            share,
        }
    }

    /// Lists that unfold together, each with its heading.
    pub(super) fn folded_lists(title: &str, lists: impl Iterator<Item = (String, Vec<String>)>, share: usize) -> Self {
        let rows = |(heading, items): (String, Vec<String>)| {
            let items = items.into_iter().map(|item| format!("- {item}\n"));
            std::iter::once(format!("\n{heading}:\n\n"))
                .chain(items)
                .collect::<Vec<_>>()
        };
        Self {
            open: format!("<details><summary>{title}</summary>\n"),
            rows: lists.flat_map(rows).collect(),
            close: "\n</details>\n\n",
            share,
        }
    }

    /// A table that unfolds when its title is clicked, after an explanation.
    pub(super) fn folded(title: &str, explanation: &str, table: &Table, share: usize) -> Self {
        let head = table.markdown_head();
        Self {
            open: format!("<details><summary>{title}</summary>\n\n{explanation}{head}"),
            close: "\n</details>\n\n",
            ..Self::table(table, share)
        }
    }

    /// As many rows as fit into its share of so many bytes, and how many did not; empty if not even that fits.
    pub(super) fn within(self, bytes: usize) -> String {
        let bytes = bytes * self.share / 100;
        let left_out = |count: usize| {
            let are = if count == 1 { "row is" } else { "rows are" };
            format!(
                "\n{count} more {are} left out to fit into a comment; the most alarming stand first, all are in comparison.json.\n"
            )
        };
        let reserved = self.open.len() + self.close.len() + left_out(usize::MAX).len();
        if reserved > bytes {
            return String::new();
        }
        let mut room = bytes - reserved;
        let fits = |row: &&String| {
            let rest = room.checked_sub(row.len());
            room = rest.unwrap_or(0);
            rest.is_some()
        };
        let shown: Vec<&str> = self.rows.iter().take_while(fits).map(String::as_str).collect();
        let cut = match self.rows.len() - shown.len() {
            0 => String::new(),
            cut => left_out(cut),
        };
        self.open + &shown.concat() + &cut + self.close
    }
}
