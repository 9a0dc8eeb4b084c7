//! A zip held in memory: its layout is walked byte by byte before anything is unpacked, so that nothing can hide in it.
//!
//! The layout that is accepted: one local header at the start, its data, maybe a data descriptor, one central header, the
//! end record at the end. See PKWARE's APPNOTE.TXT, 4.3.

use std::io::{Cursor, Read as _};

use zip::ZipArchive;

use crate::{Refusal, refuse};

/// The largest file that is unpacked, bytes.
pub const LARGEST: u64 = 1024 * 1024;

const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
const DESCRIPTOR: u32 = 0x0807_4b50;
/// Sizes follow the data; names are UTF-8. Every other flag is refused, encryption first.
const FLAGS: u16 = 1 << 3 | 1 << 11;
/// How hard it was compressed: says nothing of the content.
const LEVEL: u16 = 1 << 1 | 1 << 2;

/// The one file of a zip, which must be of that name and nothing else.
///
/// # Errors
/// When the zip holds anything else, hides something, or unpacks to more than [`LARGEST`].
pub fn only_file(zip: &[u8], name: &str) -> Result<Vec<u8>, Refusal> {
    let size = check(zip, name).ok_or_else(|| Refusal::new("the artifact is cut off or no zip"))??;
    let unreadable = |_| Refusal::new("the artifact's file cannot be unpacked");
    let mut archive = ZipArchive::new(Cursor::new(zip)).map_err(unreadable)?;
    let file = archive.by_index(0).map_err(unreadable)?;
    let mut bytes = Vec::new();
    let read = file.take(LARGEST + 1).read_to_end(&mut bytes);
    if bytes.len() as u64 > LARGEST {
        refuse!("the artifact unpacks to more than {LARGEST} bytes, and says otherwise");
    }
    if read.is_err() || bytes.len() as u64 != size {
        refuse!("the artifact's file is damaged: it does not unpack to what it says");
    }
    Ok(bytes)
}

/// Reads the layout, and returns the size that the file states; `None` if it ends too early.
fn check(zip: &[u8], name: &str) -> Option<Result<u64, Refusal>> {
    let refused = |why: &str| {
        Some(Err(Refusal::new(format!(
            "the artifact is not one file {name} in a zip: {why}"
        ))))
    };
    let end = zip.len().checked_sub(22)?;
    if number(zip, end)? != END || short(zip, end + 20)? != 0 {
        return refused("it does not end as a zip does");
    }
    if (short(zip, end + 4)?, short(zip, end + 6)?) != (0, 0) {
        return refused("it is in several parts");
    }
    if (short(zip, end + 8)?, short(zip, end + 10)?) != (1, 1) {
        return refused("it holds another number of entries than one");
    }
    let (length, central) = (number(zip, end + 12)? as usize, number(zip, end + 16)? as usize);
    if central.checked_add(length) != Some(end) || number(zip, central)? != CENTRAL {
        return refused("its directory is not before its end");
    }
    let (flags, method) = (short(zip, central + 8)?, short(zip, central + 10)?);
    let (packed, size) = (number(zip, central + 20)?, number(zip, central + 24)?);
    let parts = [central + 28, central + 30, central + 32].map(|at| short(zip, at).map(usize::from));
    let [named, extra, comment] = [parts[0]?, parts[1]?, parts[2]?];
    let attributes = number(zip, central + 38)?;
    if central + 46 + named + extra + comment != end || number(zip, central + 42)? != 0 {
        return refused("it holds more than its one entry");
    }
    if zip.get(central + 46..central + 46 + named)? != name.as_bytes() {
        return refused("its entry has another name");
    }
    if flags & !(FLAGS | LEVEL) != 0 {
        return refused("its entry is encrypted or of an unusual kind");
    }
    if method != 0 && method != 8 {
        return refused("its entry is packed in an unusual way");
    }
    if !is_plain_file(attributes) {
        return refused("its entry is no ordinary file");
    }
    if u64::from(size) > LARGEST {
        return refused(&format!("its entry says that it has {size} bytes, more than {LARGEST}"));
    }
    let local = Local::read(zip)?;
    if local.name != name.as_bytes() || (local.flags, local.method) != (flags, method) {
        return refused("its entry says one thing in the directory and another at its start");
    }
    let told_later = flags & 1 << 3 != 0;
    let same = (local.packed, local.size) == (packed, size);
    let unsaid = told_later && (local.packed, local.size) == (0, 0);
    if !(same || unsaid) {
        return refused("its entry has one size in the directory and another at its start");
    }
    let left = central.checked_sub(local.data.checked_add(packed as usize)?)?;
    let described = match left {
        0 => !told_later || same,
        12 => told_later,
        16 => told_later && number(zip, central - 16)? == DESCRIPTOR,
        _ => false,
    };
    if !described {
        return refused("something lies between its entry and its directory");
    }
    Some(Ok(size.into()))
}

/// The header of an entry.
struct Local<'a> {
    flags: u16,
    method: u16,
    packed: u32,
    size: u32,
    name: &'a [u8],
    /// Where its data begins.
    data: usize,
}

impl<'a> Local<'a> {
    fn read(zip: &'a [u8]) -> Option<Self> {
        if number(zip, 0)? != LOCAL {
            return None;
        }
        let named = usize::from(short(zip, 26)?);
        Some(Self {
            flags: short(zip, 6)?,
            method: short(zip, 8)?,
            packed: number(zip, 18)?,
            size: number(zip, 22)?,
            name: zip.get(30..30 + named)?,
            data: 30 + named + usize::from(short(zip, 28)?),
        })
    }
}

/// Whether it was a file that can be read and maybe written, where it was made; nothing that runs, and no link.
fn is_plain_file(attributes: u32) -> bool {
    const FOLDER: u32 = 0x10;
    let mode = attributes >> 16;
    let known = mode == 0 || mode & 0o170_000 == 0o100_000;
    known && mode & 0o7111 == 0 && attributes & FOLDER == 0
}

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    let found = bytes.get(at..at.checked_add(2)?)?;
    Some(u16::from_le_bytes(found.try_into().ok()?))
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let found = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(found.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use proptest::prelude::{any, prop_assert, proptest};
    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;

    const NAME: &str = "comparison.json";

    fn zip(content: &[u8]) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        writer
            .start_file(NAME, SimpleFileOptions::default().unix_permissions(0o644))
            .unwrap();
        writer.write_all(content).unwrap();
        writer.finish().unwrap().into_inner()
    }

    #[test]
    fn one_ordinary_file_is_unpacked() {
        assert_eq!(only_file(&zip(b"{\"a\": 1}"), NAME).unwrap(), b"{\"a\": 1}");
        assert_eq!(only_file(&zip(b""), NAME).unwrap(), b"");
    }

    #[test]
    fn what_is_around_a_zip_is_seen() {
        let good = zip(b"{}");
        let before = [b"#!/bin/sh\n".as_slice(), &good].concat();
        let after = [good.as_slice(), b"more"].concat();
        let twice = [good.as_slice(), &good].concat();
        for bad in [
            before,
            after,
            twice,
            good[..good.len() - 1].to_vec(),
            b"PK".to_vec(),
            Vec::new(),
        ] {
            assert!(only_file(&bad, NAME).is_err());
        }
    }

    proptest! {
        #[test]
        fn no_change_of_a_zip_unpacks_to_anything_else(place in any::<usize>(), byte in any::<u8>()) {
            let content = b"{\"content\": \"of some length, so that it is packed packed packed packed\"}";
            let mut changed = zip(content);
            let place = place % changed.len();
            changed[place] = byte;
            if let Ok(found) = only_file(&changed, NAME) {
                prop_assert!(found == content);
            }
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), end in any::<bool>()) {
            let mut bytes = bytes;
            if end {
                let good = zip(b"x");
                bytes.extend_from_slice(&good[good.len() - 22..]);
            }
            prop_assert!(only_file(&bytes, NAME).is_err());
        }
    }
}
