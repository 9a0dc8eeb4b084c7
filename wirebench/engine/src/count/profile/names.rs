//! Readable function names that are the same in every build, and the owner of a function: by its source file if line tables name one,
//! else by its name.

use std::borrow::Cow;
use std::sync::LazyLock;

use addr2line::demangle_auto;
use regex::Regex;

use crate::count::profile::frame::Origin;

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

/// Allocators' functions by exact name: the entries, and glibc's inner ones.
const ALLOCATOR: [&str; 32] = [
    "malloc",
    "calloc",
    "realloc",
    "free",
    "cfree",
    "_int_malloc",
    "_int_free",
    "_int_free_chunk",
    "_int_free_merge_chunk",
    "_int_free_create_chunk",
    "_int_free_maybe_consolidate",
    "_int_realloc",
    "_int_memalign",
    "malloc_consolidate",
    "malloc_printerr",
    "unlink_chunk",
    "sysmalloc",
    "sysmalloc_mmap",
    "systrim",
    "alloc_perturb",
    "free_perturb",
    "ptmalloc_init",
    "arena_get2",
    "arena_get_retry",
    "reallocarray",
    "memalign",
    "posix_memalign",
    "aligned_alloc",
    "valloc",
    "pvalloc",
    "__libc_malloc",
    "__libc_memalign",
];
/// The same by the beginning of the name, without the modules before it.
const ALLOCATOR_STARTS: [&str; 14] = [
    "operator new",
    "operator delete",
    "_Zn",
    "_Zd",
    "__rust_alloc",
    "__rust_dealloc",
    "__rust_realloc",
    "__rust_no_alloc_shim",
    "__rdl_",
    "__rg_",
    "tcache_",
    "je_",
    "_rjem_",
    "mi_",
];
const STANDARD_ROOTS: [&str; 5] = ["core::", "alloc::", "std::", "__rustc::", "__gnu_cxx::"];
/// Folders of standard libraries: Rust's as it is built, remapped and shipped, with the crates built into it; C++'s.
const STANDARD_FOLDERS: [&str; 5] = [
    "/library/core/src/",
    "/library/alloc/src/",
    "/library/std/src/",
    "/rust/deps/",
    "/include/c++/",
];

/// The owner of a function by its clean name and by the source file of its body, if known; never the project.
pub(super) fn origin_of(name: &str, file: Option<&str>) -> Origin {
    if is_allocator(name) {
        return Origin::Allocator;
    }
    if file.map_or_else(|| named_standard(name), in_standard_folder) {
        Origin::Standard
    } else {
        Origin::Foreign
    }
}

fn is_allocator(name: &str) -> bool {
    let bare = ["__rustc::", "std::alloc::", "alloc::alloc::"]
        .iter()
        .find_map(|module| name.strip_prefix(module))
        .unwrap_or(name);
    ALLOCATOR.contains(&name) || ALLOCATOR_STARTS.iter().any(|start| bare.starts_with(start))
}

/// Whether a source file is the standard library's.
pub(super) fn in_standard_folder(file: &str) -> bool {
    if file.ends_with(".go") || file.ends_with(".s") {
        return is_go_standard(file);
    }
    file.starts_with("library/")
        || (file.starts_with("/rustc/") && file.contains("/library/"))
        || STANDARD_FOLDERS.iter().any(|folder| file.contains(folder))
}

/// Whether a source file of a program that Go built with `-trimpath` is the standard library's: the path of its package does
/// not begin with the name of a host.
fn is_go_standard(file: &str) -> bool {
    let package = file.strip_prefix("./").unwrap_or(file);
    package
        .split('/')
        .next()
        .is_some_and(|first| !first.is_empty() && !first.contains('.'))
}

fn named_standard(name: &str) -> bool {
    match name.strip_prefix('<') {
        Some(rest) => match split_trait(to_closing_bracket(rest)) {
            (of, Some(implemented)) => is_rooted(implemented) && (is_rooted(of) || !of.contains("::")),
            (of, None) => is_rooted(of) || !of.contains("::"),
        },
        None => is_rooted(after_return_type(name)),
    }
}

/// Whether a path begins in the standard library, behind `&`, `mut`, `dyn`, brackets and pointers.
fn is_rooted(path: &str) -> bool {
    let mut rest = path;
    loop {
        let before = rest.len();
        rest = rest.trim_start_matches(['&', '[', '(', '*', ' ']);
        for word in ["mut ", "const ", "dyn "] {
            rest = rest.strip_prefix(word).unwrap_or(rest);
        }
        if let Some((_, after)) = rest.strip_prefix('\'').and_then(|rest| rest.split_once(' ')) {
            rest = after;
        }
        if rest.len() == before {
            return STANDARD_ROOTS.iter().any(|root| rest.starts_with(root));
        }
    }
}

/// The text before the `>` that closes an already opened `<`.
fn to_closing_bracket(text: &str) -> &str {
    let mut ends = outermost(text).filter(|(at, c)| *c == '>' && !text[..*at].ends_with('-'));
    ends.next().map_or(text, |(at, _)| &text[..at])
}

/// `T as Trait` in its two parts, at the outermost level.
fn split_trait(inner: &str) -> (&str, Option<&str>) {
    let mut places = outermost(inner).filter(|(at, _)| inner[*at..].starts_with(" as "));
    match places.next() {
        Some((at, _)) => (&inner[..at], Some(&inner[at + 4..])),
        None => (inner, None),
    }
}

/// A C++ template's name begins with its return type: `void std::sort<int*>(int*, int*)`.
fn after_return_type(name: &str) -> &str {
    let before_arguments = outermost(name).take_while(|(_, c)| *c != '(');
    let last = before_arguments.filter(|(_, c)| *c == ' ').last();
    last.map_or(name, |(at, _)| &name[at + 1..])
}

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

#[cfg(test)]
mod origin_tests {
    use proptest::prelude::{any, proptest};

    use super::origin_of;
    use crate::count::profile::frame::Origin;

    #[test]
    fn a_source_file_decides() {
        for (file, expected) in [
            ("/rustc/59807616e1fa/library/core/src/iter/range.rs", Origin::Standard),
            ("library/alloc/src/raw_vec/mod.rs", Origin::Standard),
            ("/rust/deps/hashbrown-0.15.4/src/raw.rs", Origin::Standard),
            ("/usr/include/c++/12/bits/stl_vector.h", Origin::Standard),
            ("./net/http/server.go", Origin::Standard),
            ("./runtime/memmove_amd64.s", Origin::Standard),
            ("./github.com/go-chi/chi/v5@v5.2.3/mux.go", Origin::Foreign),
            (
                "/root/.cargo/registry/src/index/bytes-1.0.0/src/buf.rs",
                Origin::Foreign,
            ),
            ("servers/http/src/library/shelf.rs", Origin::Foreign),
        ] {
            assert_eq!(origin_of("core::next", Some(file)), expected, "{file}");
        }
    }

    #[test]
    fn without_a_file_the_name_decides() {
        for (name, expected) in [
            ("core::fmt::write", Origin::Standard),
            ("<alloc::vec::Vec<u8>>::push", Origin::Standard),
            ("<alloc::vec::Vec<T,A> as core::clone::Clone>::clone", Origin::Standard),
            (
                "<&'a mut [core::cell::Cell<u8>] as core::fmt::Debug>::fmt",
                Origin::Standard,
            ),
            ("<T as core::convert::Into<U>>::into", Origin::Standard),
            ("<[u8]>::to_vec_in::<alloc::alloc::Global>", Origin::Standard),
            ("<alloc::vec::Vec<u8> as bytes::buf::Buf>::advance", Origin::Foreign),
            ("<http::Uri as core::fmt::Debug>::fmt", Origin::Foreign),
            ("<u8 as bytes::Take>::take", Origin::Foreign),
            ("<fn() -> T as core::ops::FnOnce>::call_once", Origin::Standard),
            ("tokio::runtime::core::poll", Origin::Foreign),
            ("std::vector<int>::push_back(int const&)", Origin::Standard),
            ("void std::sort<int*>(int*, int*)", Origin::Standard),
            ("void shop::sell<std::string>(std::string)", Origin::Foreign),
            ("main", Origin::Foreign),
            ("malloc", Origin::Allocator),
            ("operator new(unsigned long)", Origin::Allocator),
            ("__rustc::__rust_alloc", Origin::Allocator),
            ("__rdl_realloc", Origin::Allocator),
            ("__rustc::__rust_dealloc", Origin::Allocator),
            ("std::alloc::__rdl_alloc", Origin::Allocator),
            ("operator delete(void*)", Origin::Allocator),
            ("_int_free", Origin::Allocator),
            ("tcache_get", Origin::Allocator),
            ("je_malloc_tcache_fill", Origin::Allocator),
            ("mi_heap_malloc", Origin::Allocator),
            ("mallocator", Origin::Foreign),
            ("mio::sys::tcache_like", Origin::Foreign),
        ] {
            assert_eq!(origin_of(name, None), expected, "{name}");
        }
    }

    proptest! {
        #[test]
        fn any_name_has_an_origin(name in any::<String>(), crooked in "[<>&'a-z :()*\\[\\]-]{0,30}") {
            origin_of(&name, None);
            origin_of(&crooked, None);
        }
    }
}
