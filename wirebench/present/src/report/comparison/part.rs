//! A table of a comment that is cut where a comment would be too long.

/// A table that can be cut.
pub(super) struct Part<'a> {
    open: String,
    head: &'static str,
    rows: Box<dyn Iterator<Item = String> + 'a>,
    close: &'static str,
}

impl<'a> Part<'a> {
    /// A table that is seen at once.
    pub(super) fn open(head: &'static str, rows: impl Iterator<Item = String> + 'a) -> Self {
        Self {
            open: String::new(),
            head,
            rows: Box::new(rows),
            close: "\n",
        }
    }

    /// A list that is seen at once, under a sentence.
    pub(super) fn list(about: &str, rows: impl Iterator<Item = String> + 'a) -> Self {
        Self {
            open: format!("{about}:\n\n"),
            ..Self::open("", rows)
        }
    }

    /// A table under a title that is clicked, after some words.
    pub(super) fn folded(
        title: &str,
        about: &str,
        head: &'static str,
        rows: impl Iterator<Item = String> + 'a,
    ) -> Self {
        Self {
            open: format!("<details><summary>{title}</summary>\n\n{about}"),
            head,
            rows: Box::new(rows),
            close: "\n</details>\n\n",
        }
    }

    /// As many rows as fit into so many bytes, and how many did not; nothing when not even that fits.
    pub(super) fn within(self, bytes: usize) -> String {
        let left_out = |count: usize| {
            let are = if count == 1 { "row is" } else { "rows are" };
            format!(
                "\n{count} more {are} left out to fit into a comment; the most alarming stand first, all are in comparison.json.\n"
            )
        };
        let reserved = self.open.len() + self.head.len() + self.close.len() + left_out(usize::MAX).len();
        let mut rows = String::new();
        let mut cut = 0;
        for row in self.rows {
            if cut == 0 && reserved + rows.len() + row.len() <= bytes {
                rows.push_str(&row);
            } else {
                cut += 1;
            }
        }
        if reserved > bytes {
            return String::new();
        }
        let cut = if cut > 0 { left_out(cut) } else { String::new() };
        self.open + self.head + &rows + &cut + self.close
    }
}
