//! Determines a function's owner: by its source file if line tables name one, else by its name.

use crate::count::profile::frame::Origin;
use crate::count::profile::names::outermost;

/// Allocators' functions by exact name: the entries, and glibc's inner ones.
const ALLOCATOR: &str = "
    malloc calloc realloc free cfree _int_malloc _int_free _int_free_chunk _int_free_merge_chunk
    _int_free_create_chunk _int_free_maybe_consolidate _int_realloc _int_memalign malloc_consolidate malloc_printerr
    unlink_chunk sysmalloc sysmalloc_mmap systrim alloc_perturb free_perturb ptmalloc_init arena_get2
    arena_get_retry reallocarray memalign posix_memalign aligned_alloc valloc pvalloc __libc_malloc __libc_memalign";
/// The same by the beginning of the name, without the modules before it.
const ALLOCATOR_STARTS: &str = "operator new|operator delete|_Zn|_Zd|__rust_alloc|__rust_dealloc|__rust_realloc|\
    __rust_no_alloc_shim|__rdl_|__rg_|tcache_|je_|_rjem_|mi_";
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
pub(super) fn of(name: &str, file: Option<&str>) -> Origin {
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
    ALLOCATOR.split_whitespace().any(|known| known == name)
        || ALLOCATOR_STARTS.split('|').any(|start| bare.starts_with(start))
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
    use proptest::prelude::{any, proptest};

    use super::of;
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
            assert_eq!(of("core::next", Some(file)), expected, "{file}");
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
            assert_eq!(of(name, None), expected, "{name}");
        }
    }

    proptest! {
        #[test]
        fn any_name_has_an_origin(name in any::<String>(), crooked in "[<>&'a-z :()*\\[\\]-]{0,30}") {
            of(&name, None);
            of(&crooked, None);
        }
    }
}
