//! The build information that the Go linker writes into every program, as `go version -m` prints it; Go itself is not needed.

use std::path::Path;

use object::{Object as _, ObjectSection as _};

/// What the section begins with.
const MAGIC: &[u8] = b"\xff Go buildinf:";
/// Set in the byte of flags if both texts follow the header in place, as since Go 1.18.
const INLINE: u8 = 2;
/// The flags' place, and the header's length, bytes.
const FLAGS: usize = 15;
const HEADER: usize = 32;
/// A mark of so many bytes stands before and after the modules.
const MARK: usize = 16;

/// The program's modules, a line each: `mod\tgithub.com/rakyll/hey\tv0.1.5\th1:…`. `None` if it is no ELF file of Go 1.18 or later.
/// Format: debug/buildinfo of the Go standard library.
pub(super) fn modules(program: &Path) -> Option<String> {
    let bytes = std::fs::read(program).ok()?;
    let file = object::File::parse(bytes.as_slice()).ok()?;
    let section = file.section_by_name(".go.buildinfo")?.data().ok()?;
    texts(section)
}

fn texts(section: &[u8]) -> Option<String> {
    if !section.starts_with(MAGIC) || section.get(FLAGS)? & INLINE == 0 {
        return None;
    }
    let (_version, rest) = text(section.get(HEADER..)?)?;
    let (modules, _) = text(rest)?;
    let lines = modules.get(MARK..modules.len().checked_sub(MARK)?)?;
    Some(String::from_utf8_lossy(lines).into_owned())
}

/// A text with its length in front, in seven bits a byte, and what follows it.
fn text(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut length = 0usize;
    for (place, byte) in bytes.iter().enumerate().take(4) {
        length |= usize::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            return bytes.get(place + 1..)?.split_at_checked(length);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A section with these modules, as the linker writes it.
    fn section(modules: &str) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.resize(HEADER, 0);
        bytes[FLAGS] = INLINE;
        let marked = format!("{0}{modules}{0}", "m".repeat(MARK));
        for text in ["go1.26.8", &marked] {
            let mut length = text.len();
            while length >= 0x80 {
                bytes.push(u8::try_from(length & 0x7f).unwrap() | 0x80);
                length >>= 7;
            }
            bytes.push(u8::try_from(length).unwrap());
            bytes.extend(text.as_bytes());
        }
        bytes
    }

    #[test]
    fn modules_are_read_and_older_formats_are_not() {
        let lines = format!(
            "path\tgithub.com/rakyll/hey\nmod\tgithub.com/rakyll/hey\tv0.1.5\n{}",
            "dep\tx\n".repeat(99)
        );
        assert_eq!(texts(&section(&lines)), Some(lines));
        let mut old = section("mod\tx\tv1\n");
        old[FLAGS] = 0;
        assert_eq!(texts(&old), None);
        assert_eq!(modules(Path::new("/proc/self/exe")), None, "not written in Go");
    }

    proptest! {
        #[test]
        fn a_damaged_section_is_refused_or_read(mut bytes in prop::collection::vec(any::<u8>(), 0..200), cut in 0usize..400) {
            let _ = texts(&bytes);
            let mut whole = section("mod\tx\tv1\n");
            whole.truncate(cut);
            let _ = texts(&whole);
            whole.append(&mut bytes);
            let _ = texts(&whole);
        }
    }
}
