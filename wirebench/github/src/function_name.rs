//! The grammar of function names that may be shown: names of Rust, Go, C, C++ and scripts, narrow enough that a
//! sentence does not fit. Other names are not shown.

use std::sync::LazyLock;

use regex::Regex;

use crate::names::has_word;

/// The longest name.
const LONGEST: usize = 120;
/// Words, parted by blanks, of a name.
const WORDS: usize = 3;
/// Commas of a name: a list of types, not of words.
const COMMAS: usize = 3;
/// The replacement for an invalid name.
pub const OTHER: &str = "a function of this file";

/// Keywords next to which a blank is allowed within brackets, parted by blanks.
const IN_BRACKETS: &str =
    "as const dyn fn impl interface mut struct unsafe unsigned signed long short volatile extern enum";
/// Return types, which C++ writes before a function's name.
const RETURNED: &str = "void bool char int long short signed unsigned float double const auto";
const OPENING: &str = "<([{";
const CLOSING: &str = ">)]}";
/// The placeholder of angle brackets that were read.
const ANGLE: char = '⟨';
/// The placeholder of other brackets that were read.
const BRACKETS: char = '•';
/// The placeholder of an arrow between blanks.
const ARROW: char = '→';

/// `operator` with its signs.
static OPERATOR: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"\boperator(?:<=>|<<=|>>=|->\*?|\(\)|\[\]|\+\+|--|<<|>>|&&|\|\||[-+*/%^&|<>=!]=|[-+*/%^&|~!=<>,])")
});
/// Brackets without brackets in them.
static INNERMOST: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"<[^<>()\[\]{}]*>|\([^<>()\[\]{}]*\)|\[[^<>()\[\]{}]*\]|\{[^<>()\[\]{}]*\}"));
/// A name whose brackets were replaced by placeholders.
static OUTSIDE: LazyLock<Regex> = LazyLock::new(|| pattern(&format!("^~?(?:{PARTS})*$")));
/// The text between brackets: lists, sums, lifetimes; and numbers of closures in braces.
static INSIDE: LazyLock<Regex> =
    LazyLock::new(|| pattern(&format!("^(?:{PARTS}|[,;]| [+=] |(?:^|[&, ])'[a-z_][A-Za-z0-9_]*)*$")));
static NUMBERED: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\{[a-z_]+#[0-9]+\}$"));
/// Identifiers, which may be paths of Go, and what stands between them.
const PARTS: &str = r"[A-Za-z0-9_$]+(?:[/-][A-Za-z0-9][A-Za-z0-9_$]*)*|::~?|[.&*⟨•→ ]";

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a constant pattern")
}

/// A function's name that is safe to show: unchanged, or without the text in its brackets, or [`OTHER`].
pub fn function(text: &str) -> String {
    if text == "???" {
        return text.to_owned();
    }
    let shorter = [usize::MAX, 2, 1].into_iter().map(|depth| without_inner(text, depth));
    let found = shorter.into_iter().find(|name| is_name(name));
    found.unwrap_or_else(|| OTHER.to_owned())
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

/// Whether a whole text is a function's name: replaces the innermost brackets by placeholders until none is left.
fn is_name(text: &str) -> bool {
    let short = (1..=LONGEST).contains(&text.len()) && text.is_ascii();
    let lists = text.matches([',', ';']).count() <= COMMAS;
    if !short || !lists || text.split(' ').count() > WORDS || text.contains("www.") || text.contains("  ") {
        return false;
    }
    if let Some((address, file)) = text.split_once(" in ") {
        return is_address(address) && is_file(file);
    }
    let mut rest = OPERATOR
        .replace_all(text, "operator")
        .replace(" -> ", &ARROW.to_string());
    while let Some(found) = INNERMOST.find(&rest) {
        let (range, brackets) = (found.range(), found.as_str());
        let inner = &brackets[1..brackets.len() - 1];
        if !(INSIDE.is_match(inner) && adjacent_words(inner, may_follow_inside) || NUMBERED.is_match(brackets)) {
            return false;
        }
        let placeholder = if brackets.starts_with('<') { ANGLE } else { BRACKETS };
        rest.replace_range(range, &placeholder.to_string());
    }
    // A path of Go has no return type before it.
    let outside = |before: &str, after: &str| may_follow(before, after, !text.contains('/'));
    OUTSIDE.is_match(&rest)
        && adjacent_words(&rest, outside)
        && text.contains(|c: char| c.is_ascii_alphanumeric())
        && !rest.ends_with(['.', ':', ' ', ARROW])
}

/// Whether each blank of a text is allowed between the words next to it.
fn adjacent_words(text: &str, may_follow: impl Fn(&str, &str) -> bool) -> bool {
    let words: Vec<&str> = text.split(' ').collect();
    words.array_windows().all(|[before, after]| may_follow(before, after))
}

/// The identifiers directly before and after a blank.
fn identifiers<'a>(before: &'a str, after: &'a str) -> (&'a str, &'a str) {
    let other = |c: char| !c.is_ascii_alphanumeric() && c != '_';
    let (word, follows) = (before.rsplit(other).next(), after.split(other).next());
    (word.unwrap_or_default(), follows.unwrap_or_default())
}

/// Whether a blank may stand between these words outside of brackets.
fn may_follow(before: &str, after: &str, returns: bool) -> bool {
    let (word, follows) = identifiers(before, after);
    let operator = word == "operator" && ["new", "delete"].contains(&follows);
    let method = before.ends_with(BRACKETS) && after == "const";
    operator || method || returns && has_word(RETURNED, word) && !after.is_empty()
}

/// The same within brackets.
fn may_follow_inside(before: &str, after: &str) -> bool {
    let (word, follows) = identifiers(before, after);
    let lifetime = before.strip_suffix(word).is_some_and(|start| start.ends_with('\''));
    before.ends_with([',', ';', ANGLE, '+', '='])
        || after.starts_with(['+', '='])
        || lifetime
        || has_word(IN_BRACKETS, word)
        || has_word(IN_BRACKETS, follows)
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
