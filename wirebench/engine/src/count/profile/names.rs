//! Readable function names that are the same in every build.

use std::borrow::Cow;
use std::sync::LazyLock;

use addr2line::demangle_auto;
use regex::Regex;

/// A name from a symbol table or from valgrind: demangled where it is not yet, without what changes from build to build.
pub(super) fn clean(name: &str) -> String {
    let bare = without_endings(name);
    let demangled = match bare.as_bytes() {
        [b'_', b'Z' | b'R', ..] => demangle_auto(Cow::Borrowed(bare), None),
        _ => Cow::Borrowed(bare),
    };
    CRATE_HASH.replace_all(without_endings(&demangled), "::").into_owned()
}

/// The name of a function at an address without a symbol; without the program if that is unknown.
pub(super) fn of_address(address: &str, program: Option<&str>) -> String {
    let digits = address.trim_start_matches("0x").trim_start_matches('0');
    let digits = if digits.is_empty() { "0" } else { digits };
    match program {
        Some(program) => format!("0x{digits} in {program}"),
        None => format!("0x{digits}"),
    }
}

/// The package of a Go function: `net/http` of `net/http.(*conn).serve`; `None` for a name without one.
pub(super) fn package(name: &str) -> Option<&str> {
    // Type arguments name packages of their own.
    let bare = name.find('[').map_or(name, |at| &name[..at]);
    let last = bare.rfind('/').map_or(0, |at| at + 1);
    let dot = bare[last..].find('.')?;
    Some(&bare[..last + dot])
}

/// The one name for closures, async functions and async blocks, whose compiler-made names have numbers.
pub(super) const CLOSURE: &str = "{{closure}}";

/// A Rust function's name without its path, its type and its generic arguments, as line tables name inlined functions:
/// `poll` for `<a::Task<T> as core::future::Future>::poll` and for `poll<T>`. The function around a closure when the path
/// names it, else [`CLOSURE`].
pub(super) fn short(name: &str, closures: Closures) -> &str {
    let mut last = "";
    for part in parts(name).into_iter().rev() {
        let is_closure = part.starts_with('{');
        let bare = part.find(['<', '{']).map_or(part, |at| &part[..at]);
        if is_closure && closures == Closures::Kept {
            return CLOSURE;
        }
        if is_closure {
            last = CLOSURE;
        } else if !bare.is_empty() {
            return bare;
        }
    }
    if last.is_empty() { name } else { last }
}

/// Whether a closure counts as the function around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Closures {
    /// A closure is a function.
    Kept,
    /// It is a part of the function around it.
    Folded,
}

/// A path's parts, split at every `::` outside of brackets.
fn parts(name: &str) -> Vec<&str> {
    let (mut parts, mut start) = (Vec::new(), 0);
    for (at, _) in outermost(name).filter(|(_, c)| *c == ':') {
        if at > start && name[..at].ends_with(':') {
            parts.push(&name[start..at - 1]);
            start = at + 1;
        }
    }
    parts.push(&name[start..]);
    parts
}

/// The characters of a name outside of brackets, each with its place; also the brackets that open there, and those that close what is
/// not open. `->` is no bracket.
pub(super) fn outermost(name: &str) -> impl Iterator<Item = (usize, char)> {
    let (mut depth, mut before) = (0usize, ' ');
    name.char_indices().filter(move |(_, c)| {
        let is_outermost = depth == 0;
        match c {
            '<' | '(' | '[' | '{' => depth += 1,
            '>' if before == '-' => {}
            '>' | ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        before = *c;
        is_outermost
    })
}

/// Whether valgrind wrote an address in place of a name.
pub(super) fn is_address(name: &str) -> bool {
    name == "???"
        || name
            .strip_prefix("0x")
            .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Cuts off, as often as there is one: the version of a symbol, a compiler's copy of a function, a legacy Rust hash.
fn without_endings(name: &str) -> &str {
    let mut rest = name;
    loop {
        let shorter = without_one_ending(rest);
        if shorter.len() == rest.len() || shorter.is_empty() {
            return rest;
        }
        rest = shorter;
    }
}

fn without_one_ending(name: &str) -> &str {
    if let Some(bare) = name.strip_suffix(']').and_then(|name| name.rsplit_once(" [clone ")) {
        return bare.0;
    }
    if let Some((bare, version)) = name.split_once('@')
        && !bare.is_empty()
        && version.trim_start_matches('@').bytes().all(is_version)
    {
        return bare;
    }
    if let Some((bare, hash)) = name.rsplit_once("::h")
        && hash.len() == 16
        && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
    {
        return bare;
    }
    let numbered = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let stem = numbered.strip_suffix('.').filter(|_| numbered.len() < name.len());
    for copy in [".llvm", ".part", ".constprop", ".isra", ".lto_priv", ".cold"] {
        if let Some(bare) = stem.and_then(|stem| stem.strip_suffix(copy)) {
            return bare;
        }
    }
    // The suffix that link-time optimisation adds to functions.
    if let Some(bare) = stem.filter(|stem| stem.contains("::") || stem.starts_with("_ZN") || stem.starts_with("_R")) {
        return bare;
    }
    name.strip_suffix(".cold").unwrap_or(name)
}

fn is_version(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'_'
}

/// The hash of a crate: `core[1a2b3c4d5e6f7a8b]::fmt` is `core::fmt`.
static CRATE_HASH: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\[[0-9A-Fa-f]{8,16}\]::").expect("a constant pattern"));

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert_eq, proptest};

    use super::{Closures, clean, is_address, of_address, short};

    #[test]
    fn what_changes_from_build_to_build_is_cut_off() {
        for (name, expected) in [
            ("main", "main"),
            ("memcpy@@GLIBC_2.14", "memcpy"),
            ("pthread_create@GLIBC_2.34", "pthread_create"),
            ("tcache_init.part.0", "tcache_init"),
            ("work.constprop.0.isra.3.cold", "work"),
            ("work.cold.12", "work"),
            ("work.llvm.1234567890", "work"),
            ("work(int) [clone .part.0] [clone .cold]", "work(int)"),
            ("http::router::h0123456789abcdef", "http::router"),
            ("_ZN4http6router17h0123456789abcdefE", "http::router"),
            ("_ZN4http6router17h0123456789abcdefE.llvm.77", "http::router"),
            ("_ZN4http6router17h0123456789abcdefE.1708", "http::router"),
            ("alloc::string::write_str.1708", "alloc::string::write_str"),
            ("_RNvNtCsgEmfK2I1SDS_4core3fmt5write", "core::fmt::write"),
            ("_ZN5shape4areaEi", "shape::area(int)"),
            ("core[0123456789abcdef]::fmt::write", "core::fmt::write"),
            ("<[u8]>::to_vec", "<[u8]>::to_vec"),
            ("<[deadbeef]>::f", "<[deadbeef]>::f"),
            ("<a as b>::{{closure}}", "<a as b>::{{closure}}"),
            ("v1.2", "v1.2"),
            (".cold", ".cold"),
            ("@plt", "@plt"),
            ("", ""),
        ] {
            assert_eq!(clean(name), expected, "{name}");
        }
    }

    #[test]
    fn a_symbol_and_an_inlined_function_have_one_short_name() {
        for (name, expected) in [
            ("main", "main"),
            ("poll<core::pin::Pin<T>>", "poll"),
            ("<shop::Answer as shop::Render>::render", "render"),
            ("shop::<impl shop::Render for shop::Answer>::render", "render"),
            ("alloc::raw_vec::RawVecInner<A>::reserve::do_reserve", "do_reserve"),
            ("core::ptr::drop_in_place<fn(u8) -> a::B>", "drop_in_place"),
            ("core::ptr::drop_in_place::<a::B>", "drop_in_place"),
            ("core::ops::FnOnce::call_once{{vtable.shim}}", "call_once"),
            ("shop::handler::{{closure}}", "handler"),
            ("shop::handler::{closure#0}::{async_block#1}", "handler"),
            ("{closure#0}<T>", "{{closure}}"),
            ("{async_fn#0}", "{{closure}}"),
            ("", ""),
        ] {
            assert_eq!(short(name, Closures::Folded), expected, "{name}");
        }
        assert_eq!(short("tokio::spawn::{closure#0}", Closures::Kept), "{{closure}}");
        assert_eq!(short("tokio::spawn::{{closure}}", Closures::Kept), "{{closure}}");
    }

    #[test]
    fn a_go_function_has_the_package_before_its_name() {
        for (name, expected) in [
            ("main.render", Some("main")),
            ("net/http.(*conn).serve", Some("net/http")),
            ("example.com/shop/api.Serve.func1", Some("example.com/shop/api")),
            ("slices.Sort[go.shape.[]example.com/shop.Item]", Some("slices")),
            ("memcpy", None),
            ("", None),
        ] {
            assert_eq!(super::package(name), expected, "{name}");
        }
    }

    #[test]
    fn addresses_are_told_from_names() {
        assert!(is_address("0x00000000000102f0") && is_address("???"));
        assert!(!is_address("0xyz") && !is_address("main") && !is_address("0x"));
        assert_eq!(
            of_address("0x00000000000102f0", Some("libm.so.6")),
            "0x102f0 in libm.so.6"
        );
        assert_eq!(of_address("0x000", None), "0x0");
    }

    proptest! {
        #[test]
        fn cleaning_twice_changes_nothing_more(name in "[a-z:@.<>\\[\\]0-9' ]{0,40}", more in any::<String>()) {
            let once = clean(&name);
            // Removing one suffix may uncover a hash in brackets, which is removed too.
            prop_assert_eq!(clean(&clean(&once)), clean(&once));
            short(&name, Closures::Folded);
            short(&clean(&more), Closures::Kept);
        }
    }
}
