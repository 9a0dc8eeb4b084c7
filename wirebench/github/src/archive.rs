//! Unpacks the one file of a zip in memory, after checking the whole layout byte by byte, so that nothing can hide in it.
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
/// The compression level, which does not affect the content.
const LEVEL: u16 = 1 << 1 | 1 << 2;

/// Why a zip is refused.
enum Fault {
    /// It ends before a field that it must have.
    CutOff,
    /// It is not exactly one ordinary file, for this reason.
    Layout(&'static str),
    /// Its entry states more than [`LARGEST`] bytes.
    TooLarge(u32),
}

impl Fault {
    fn refusal(&self, name: &str) -> Refusal {
        let why = match self {
            Self::CutOff => return Refusal::new("the artifact is cut off or no zip"),
            Self::Layout(why) => (*why).to_owned(),
            Self::TooLarge(size) => format!("its entry says that it has {size} bytes, more than {LARGEST}"),
        };
        Refusal::new(format!("the artifact is not one file {name} in a zip: {why}"))
    }
}

/// Unpacks the one file of a zip, which must have this name.
///
/// # Errors
/// When the zip holds anything else, hides something, or unpacks to more than [`LARGEST`].
pub fn only_file(zip: &[u8], name: &str) -> Result<Vec<u8>, Refusal> {
    let size = check(zip, name).map_err(|fault| fault.refusal(name))?;
    let unreadable = |_| Refusal::new("the artifact's file cannot be unpacked");
    let mut archive = ZipArchive::new(Cursor::new(zip)).map_err(unreadable)?;
    let file = archive.by_index(0).map_err(unreadable)?;
    let mut bytes = Vec::new();
    let read = file.take(LARGEST + 1).read_to_end(&mut bytes);
    if bytes.len() as u64 > LARGEST {
        refuse!("the artifact unpacks to more than {LARGEST} bytes, although its header states fewer");
    }
    if read.is_err() || bytes.len() as u64 != size {
        refuse!("the artifact's file is damaged: it does not unpack to the size that its header states");
    }
    Ok(bytes)
}

/// Checks the whole layout, and returns the size that the file states.
fn check(zip: &[u8], name: &str) -> Result<u64, Fault> {
    let end = zip.len().checked_sub(22).ok_or(Fault::CutOff)?;
    let central = directory(zip, end)?;
    let entry = Entry::in_directory(zip, central, end)?;
    entry.check(name)?;
    let local = Entry::at_start(zip)?;
    if local.name != entry.name || (local.flags, local.method) != (entry.flags, entry.method) {
        return Err(Fault::Layout(
            "its entry says one thing in the directory and another at its start",
        ));
    }
    let told_later = entry.flags & 1 << 3 != 0;
    let same = (local.packed, local.size) == (entry.packed, entry.size);
    let unsaid = told_later && (local.packed, local.size) == (0, 0);
    if !(same || unsaid) {
        return Err(Fault::Layout(
            "its entry has one size in the directory and another at its start",
        ));
    }
    let data_end = local.end.checked_add(entry.packed as usize);
    let left = data_end.and_then(|at| central.checked_sub(at)).ok_or(Fault::CutOff)?;
    let described = match left {
        0 => !told_later || same,
        12 => told_later,
        16 => told_later && number(zip, central - 16)? == DESCRIPTOR,
        _ => false,
    };
    if !described {
        return Err(Fault::Layout("something lies between its entry and its directory"));
    }
    Ok(entry.size.into())
}

/// Checks the end record, which begins at `end`, and returns where the directory begins.
fn directory(zip: &[u8], end: usize) -> Result<usize, Fault> {
    if number(zip, end)? != END || short(zip, end + 20)? != 0 {
        return Err(Fault::Layout("it does not end as a zip does"));
    }
    if (short(zip, end + 4)?, short(zip, end + 6)?) != (0, 0) {
        return Err(Fault::Layout("it is in several parts"));
    }
    if (short(zip, end + 8)?, short(zip, end + 10)?) != (1, 1) {
        return Err(Fault::Layout("it holds another number of entries than one"));
    }
    let (length, central) = (number(zip, end + 12)? as usize, number(zip, end + 16)? as usize);
    if central.checked_add(length) != Some(end) || number(zip, central)? != CENTRAL {
        return Err(Fault::Layout("its directory is not before its end"));
    }
    Ok(central)
}

/// A header of the entry: the one in the directory, or the one before its data.
struct Entry<'a> {
    flags: u16,
    method: u16,
    packed: u32,
    size: u32,
    /// External attributes; 0 in the header before the data, which has none.
    attributes: u32,
    name: &'a [u8],
    /// Where the header ends, in bytes from the start.
    end: usize,
}

impl<'a> Entry<'a> {
    /// The header in the directory at `central`, which must fill it up to `end`.
    fn in_directory(zip: &'a [u8], central: usize, end: usize) -> Result<Self, Fault> {
        let [named, extra, comment] = [28, 30, 32].map(|at| short(zip, central + at).map(usize::from));
        let named = named?;
        let entry = Self {
            flags: short(zip, central + 8)?,
            method: short(zip, central + 10)?,
            packed: number(zip, central + 20)?,
            size: number(zip, central + 24)?,
            attributes: number(zip, central + 38)?,
            name: zip.get(central + 46..central + 46 + named).ok_or(Fault::CutOff)?,
            end: central + 46 + named + extra? + comment?,
        };
        if entry.end != end || number(zip, central + 42)? != 0 {
            return Err(Fault::Layout("it holds more than its one entry"));
        }
        Ok(entry)
    }

    /// The header before the data, at the start of the zip.
    fn at_start(zip: &'a [u8]) -> Result<Self, Fault> {
        if number(zip, 0)? != LOCAL {
            return Err(Fault::CutOff);
        }
        let named = usize::from(short(zip, 26)?);
        Ok(Self {
            flags: short(zip, 6)?,
            method: short(zip, 8)?,
            packed: number(zip, 18)?,
            size: number(zip, 22)?,
            attributes: 0,
            name: zip.get(30..30 + named).ok_or(Fault::CutOff)?,
            end: 30 + named + usize::from(short(zip, 28)?),
        })
    }

    /// Checks that it is an ordinary file of this name, not larger than [`LARGEST`].
    fn check(&self, name: &str) -> Result<(), Fault> {
        if self.name != name.as_bytes() {
            return Err(Fault::Layout("its entry has another name"));
        }
        if self.flags & !(FLAGS | LEVEL) != 0 {
            return Err(Fault::Layout("its entry is encrypted or of an unusual kind"));
        }
        if self.method != 0 && self.method != 8 {
            return Err(Fault::Layout("its entry is packed in an unusual way"));
        }
        if !is_plain_file(self.attributes) {
            return Err(Fault::Layout("its entry is no ordinary file"));
        }
        if u64::from(self.size) > LARGEST {
            return Err(Fault::TooLarge(self.size));
        }
        Ok(())
    }
}

/// Whether its attributes are those of an ordinary file: readable, maybe writable, not executable, no link.
fn is_plain_file(attributes: u32) -> bool {
    const FOLDER: u32 = 0x10;
    let mode = attributes >> 16;
    let known = mode == 0 || mode & 0o170_000 == 0o100_000;
    known && mode & 0o7111 == 0 && attributes & FOLDER == 0
}

/// The two bytes at a place, as a number.
fn short(bytes: &[u8], at: usize) -> Result<u16, Fault> {
    let found = bytes.get(at..).and_then(<[u8]>::first_chunk).ok_or(Fault::CutOff)?;
    Ok(u16::from_le_bytes(*found))
}

/// The four bytes at a place, as a number.
fn number(bytes: &[u8], at: usize) -> Result<u32, Fault> {
    let found = bytes.get(at..).and_then(<[u8]>::first_chunk).ok_or(Fault::CutOff)?;
    Ok(u32::from_le_bytes(*found))
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
