//! The grammar of function names that may be shown: names of Rust, Go, C, C++ and scripts, narrow enough that a
//! sentence does not fit. Other names are not shown.

/// The longest name.
const LONGEST: usize = 120;
/// Words, parted by blanks, of a name.
const WORDS: usize = 3;
/// Commas of a name: a list of types, not of words.
const COMMAS: usize = 3;
/// The replacement for an invalid name.
pub const OTHER: &str = "a function of this file";

/// Keywords next to which a blank is allowed within brackets.
const IN_BRACKETS: [&str; 16] = [
    "as",
    "const",
    "dyn",
    "fn",
    "impl",
    "interface",
    "mut",
    "struct",
    "unsafe",
    "unsigned",
    "signed",
    "long",
    "short",
    "volatile",
    "extern",
    "enum",
];
/// Return types, which C++ writes before a function's name.
const RETURNED: [&str; 12] = [
    "void", "bool", "char", "int", "long", "short", "signed", "unsigned", "float", "double", "const", "auto",
];
const OPENING: &str = "<([{";
const CLOSING: &str = ">)]}";
/// The signs behind `operator`, the longest first.
const OPERATORS: [&str; 39] = [
    "<=>", "<<=", ">>=", "->*", "()", "[]", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=",
    "-=", "*=", "/=", "%=", "^=", "&=", "|=", "+", "-", "*", "/", "%", "^", "&", "|", "~", "!", "=", "<", ">", ",",
];

/// A function's name that is safe to show: unchanged, or without the text in its brackets, or [`OTHER`].
#[must_use]
pub fn function(text: &str) -> String {
    if text == "???" {
        return text.to_owned();
    }
    let shorter = [usize::MAX, 2, 1].into_iter().map(|depth| without_inner(text, depth));
    shorter
        .into_iter()
        .find(|name| is_name(name))
        .unwrap_or_else(|| OTHER.to_owned())
}

/// The name without the text in brackets of that depth and deeper: `Compound<..>` for `Compound<W, F>`.
fn without_inner(text: &str, depth: usize) -> String {
    let mut out = String::new();
    let mut open = 0_usize;
    let mut before = ' ';
    for c in text.chars() {
        let closes = CLOSING.contains(c) && !(c == '>' && before == '-');
        if closes {
            open = open.saturating_sub(1);
        }
        if open < depth {
            out.push(c);
        }
        if OPENING.contains(c) {
            open += 1;
            if open == depth {
                out.push_str("..");
            }
        }
        before = c;
    }
    out.replace("(..)", "()").replace("{..}", "{}").replace("[..]", "[]")
}

/// Whether a whole text is a function's name.
fn is_name(text: &str) -> bool {
    let short = (1..=LONGEST).contains(&text.len()) && text.is_ascii();
    let lists = text.matches([',', ';']).count() <= COMMAS;
    short && lists && text.split(' ').count() <= WORDS && !text.contains("www.") && Reader::new(text).fits()
}

/// Reads a name from its beginning to its end.
struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// The brackets that are open.
    open: Vec<u8>,
    /// The identifier read last, if nothing follows it yet.
    word: &'a str,
}

impl<'a> Reader<'a> {
    const fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            open: Vec::new(),
            word: "",
        }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn before(&self) -> u8 {
        self.at.checked_sub(1).map_or(0, |at| self.text.as_bytes()[at])
    }

    fn fits(mut self) -> bool {
        if let Some((address, file)) = self.text.split_once(" in ") {
            return is_address(address) && is_file(file);
        }
        if !self.text.bytes().any(|byte| byte.is_ascii_alphanumeric()) {
            return false;
        }
        while let Some(byte) = self.rest().bytes().next() {
            if !self.step(byte) {
                return false;
            }
        }
        self.open.is_empty()
            && !matches!(
                self.before(),
                b'.' | b',' | b':' | b' ' | b'/' | b'-' | b'\'' | b'+' | b'='
            )
    }

    /// Reads one word or sign; false if it is not allowed here.
    fn step(&mut self, byte: u8) -> bool {
        if byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' {
            return self.identifier();
        }
        let word = std::mem::take(&mut self.word);
        let inside = !self.open.is_empty();
        let next = self.rest().as_bytes().get(1).copied().unwrap_or_default();
        let mut length = 1;
        let fits = match byte {
            b'<' | b'(' | b'[' | b'{' => {
                self.open.push(byte);
                true
            }
            b'-' if next == b'>' => {
                length = 2;
                self.before() == b' ' && self.rest().as_bytes().get(2) == Some(&b' ')
            }
            b'>' | b')' | b']' | b'}' => self.open.pop().is_some_and(|open| closes(open, byte)),
            b':' => {
                length = 2;
                next == b':'
            }
            b'.' | b'&' | b'*' => true,
            b'/' | b'-' => self.before().is_ascii_alphanumeric() && next.is_ascii_alphanumeric(),
            b',' | b';' => inside,
            b'#' => self.open.last() == Some(&b'{') && next.is_ascii_digit(),
            b'\'' => !self.before().is_ascii_alphanumeric() && (next.is_ascii_lowercase() || next == b'_'),
            b'~' => matches!(self.before(), 0 | b':') && next.is_ascii_alphabetic(),
            b'+' | b'=' => inside && self.before() == b' ' && next == b' ',
            b' ' => self.blank(word, next),
            _ => false,
        };
        self.at += length;
        fits && self.at <= self.text.len()
    }

    /// Reads an identifier, and the signs of an operator behind `operator`.
    fn identifier(&mut self) -> bool {
        let part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
        let rest = self.rest();
        let length = rest.find(|c| !part(c)).unwrap_or(rest.len());
        self.word = &rest[..length];
        self.at += length;
        if self.word == "operator" {
            let rest = self.rest();
            let signs = OPERATORS.iter().find(|signs| rest.starts_with(**signs));
            self.at += signs.map_or(0, |signs| signs.len());
        }
        true
    }

    /// Whether a blank may stand here, behind `word`.
    fn blank(&self, word: &str, next: u8) -> bool {
        let rest = &self.rest()[1..];
        let follows = rest
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .next()
            .unwrap_or_default();
        let before = self.before();
        if next == 0 || next == b' ' || before == b' ' || before == 0 {
            return false;
        }
        let sign = |byte: u8| matches!(byte, b'+' | b'=');
        if self.open.is_empty() {
            let operator = word == "operator" && ["new", "delete"].contains(&follows);
            let returned = RETURNED.contains(&word) && !self.text.contains('/');
            let method = before == b')' && rest == "const";
            return operator || returned || method || rest.starts_with("-> ") || self.behind_arrow();
        }
        let language = IN_BRACKETS.contains(&word) || IN_BRACKETS.contains(&follows);
        let lifetime = self.text[..self.at]
            .rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '\'')
            .next();
        matches!(before, b',' | b';' | b'>')
            || sign(before)
            || sign(next)
            || rest.starts_with("-> ")
            || self.behind_arrow()
            || language
            || lifetime.is_some_and(|word| word.starts_with('\''))
    }

    fn behind_arrow(&self) -> bool {
        self.text[..self.at].ends_with("->")
    }
}

const fn closes(open: u8, close: u8) -> bool {
    matches!((open, close), (b'<', b'>') | (b'(', b')') | (b'[', b']') | (b'{', b'}'))
}

fn is_address(text: &str) -> bool {
    let digits = text.strip_prefix("0x").unwrap_or_default();
    (1..=16).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_file(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "._+-".contains(c);
    (1..=64).contains(&text.len()) && text.chars().all(allowed)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert, prop_assert_eq, prop_oneof, proptest};
    use proptest::strategy::Strategy;

    use super::*;

    #[test]
    fn functions_are_called_what_they_are_called() {
        for name in [
            "main",
            "_start",
            "???",
            "0x102f0 in libm.so.6",
            "0x102f0",
            "server_runtime::waste::spin",
            "alloc::raw_vec::RawVec<T,A>::grow_amortized",
            "core::ptr::drop_in_place<hyper::body::Incoming>",
            "<shop::Answer as shop::Render>::render",
            "<[u8]>::to_vec",
            "<a as b>::{{closure}}",
            "shop::handler::{closure#0}::{async_block#1}",
            "core::ops::FnOnce::call_once{{vtable.shim}}",
            "core::ptr::drop_in_place<fn(u8) -> a::B>",
            "core::ptr::drop_in_place<&'a str>",
            "core::ptr::drop_in_place<&mut a::B>",
            "operator new[](unsigned long)",
            "operator delete(void*)",
            "shape::area(int)",
            "Shape::~Shape()",
            "Shape::operator==(Shape const&)",
            "Shape::operator()(int)",
            "Shape::operator->()",
            "Shape::size() const",
            "void sort<int>(int*)",
            "std::vector<int>::push_back(int&&)",
            "main.(*Server).ServeHTTP",
            "main.main.func1",
            "net/http.(*conn).serve",
            "github.com/gin-gonic/gin.(*Engine).ServeHTTP",
            "main.Map[...]",
            "main.Map[go.shape.int]",
            "Object.<anonymous>",
            "<module>",
            "lambda$0",
            "work.cold",
        ] {
            assert_eq!(function(name), name);
        }
    }

    #[test]
    fn long_lists_in_brackets_are_left_out() {
        for (name, shown) in [
            (
                "<serde_json::ser::Compound<W, F> as serde::ser::SerializeStruct>::serialize_field",
                "<serde_json::ser::Compound<..> as serde::ser::SerializeStruct>::serialize_field",
            ),
            (
                "std::vector<int, std::allocator<int> >::push_back(int const&)",
                "std::vector<..>::push_back()",
            ),
            ("<&mut T as core::fmt::Write>::write_str", "<..>::write_str"),
            (
                "shop::<impl shop::Render for shop::Answer>::render",
                "shop::<..>::render",
            ),
            ("f(Your,account,is,locked,visit,evil.example)", "f()"),
        ] {
            assert_eq!(function(name), shown);
        }
    }

    #[test]
    fn sentences_are_no_names() {
        for text in [
            "",
            " ",
            "Your token has leaked. Visit https://evil.example/login to replace it",
            "Please visit evil.example",
            "visit evil.example",
            "see www.evil.example",
            "www.evil.example/login",
            "https://evil.example",
            "@everyone",
            "@octo/team",
            "a`b",
            "a|b",
            "a\nb",
            "a\tb",
            "a\u{202e}b",
            "<!-- hidden",
            "don't",
            "call 555-0199 now",
            "Click (here as soon)",
            "wow!",
            "really?",
            "a, b",
            "f(",
            "f)",
            "<a]",
            "a  b",
            "...",
            "a.",
            "[x](https://evil.example)",
        ] {
            assert_eq!(function(text), OTHER, "{text:?}");
        }
        assert_eq!(function(&"a".repeat(120)).len(), 120);
        assert_eq!(function(&"a".repeat(121)), OTHER);
    }

    fn named() -> impl Strategy<Value = String> {
        let part = prop_oneof![
            proptest::sample::select(
                &[
                    "a", "Your", "token", "operator", "as", "const", "::", ".", "<", ">", "(", ")", "[", "]", "{", "}",
                    "&", "*", "~", "#0", " ", ",", "->", "'"
                ][..]
            )
            .prop_map(str::to_owned),
            any::<char>().prop_map(String::from),
        ];
        proptest::collection::vec(part, 0..30).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn any_text_makes_a_short_harmless_name(text in named(), other in any::<String>()) {
            for name in [function(&text), function(&other)].into_iter().filter(|name| name != OTHER) {
                prop_assert!((1..=LONGEST).contains(&name.len()) && name.is_ascii(), "{:?}", name);
                prop_assert!(name.split(' ').count() <= WORDS && !name.contains("  "), "{:?}", name);
                prop_assert!(!name.contains(['`', '@', '\n', '\t', '\\', '"']), "{:?}", name);
                prop_assert!(!name.contains("//") && !name.contains("://") && !name.contains("<!"), "{:?}", name);
            }
        }

        #[test]
        fn no_sentence_is_a_name(sentence in "[A-Z][a-z]{2,9}( [a-z0-9.]{3,12}){1,12}[.!]?") {
            prop_assert_eq!(function(&sentence), OTHER);
        }
    }
}
