//! Unpacks the one file of a zip in memory, after checking that nothing else is in the zip.
//!
//! The layout that is accepted: one local header at the start, its data, maybe a data descriptor, one central header, the
//! end record at the end, all without extra fields and comments. See PKWARE's APPNOTE.TXT, 4.3.

use std::io::{Cursor, Read};

use flate2::Crc;
use flate2::bufread::DeflateDecoder;
use zip::read::ZipFile;
use zip::{CompressionMethod, ZipArchive};

use crate::{Refusal, refuse};

/// The largest file that is unpacked, bytes.
pub const LARGEST: u64 = 1024 * 1024;

/// Bytes of a local header, a central header and an end record, without their names.
const HEADERS: [u64; 3] = [30, 46, 22];
/// The signature of a data descriptor, which may be left out.
const DESCRIPTOR: u64 = 0x0807_4b50;

/// Unpacks the one file of a zip, which must have this name.
///
/// # Errors
/// When the zip holds anything else, hides something, or unpacks to more than [`LARGEST`].
pub fn only_file(zip: &[u8], name: &str) -> Result<Vec<u8>, Refusal> {
    let no_zip = |_| Refusal::new("the artifact is cut off or no zip");
    let other = |why: &str| Refusal::new(format!("the artifact is not one file {name} in a zip: {why}"));
    let mut archive = ZipArchive::new(Cursor::new(zip)).map_err(no_zip)?;
    if archive.len() != 1 || archive.has_duplicate_names() {
        return Err(other("it holds another number of entries than one"));
    }
    let consistent = archive.validate_header_consistency();
    let mut file = archive.by_index_raw(0).map_err(no_zip)?;
    check(&file, name).map_err(other)?;
    if !fills(&file, zip) {
        return Err(other("it holds other bytes than those of its one entry"));
    }
    consistent.map_err(|_| other("its entry says one thing in the directory and another at its start"))?;
    if file.size() > LARGEST {
        let size = file.size();
        refuse!("the artifact's file states a size of {size} bytes, more than {LARGEST}");
    }
    let mut packed = Vec::new();
    file.read_to_end(&mut packed)
        .map_err(|_| other("its entry is cut off"))?;
    unpacked(&file, packed)
}

/// Checks that an entry is an ordinary file of this name.
fn check<R: Read>(file: &ZipFile<R>, name: &str) -> Result<(), &'static str> {
    if file.name_raw() != name.as_bytes() {
        return Err("its entry has another name");
    }
    if file.encrypted() {
        return Err("its entry is encrypted");
    }
    if ![CompressionMethod::Stored, CompressionMethod::Deflated].contains(&file.compression()) {
        return Err("its entry is packed in an unusual way");
    }
    if !is_plain_file(file.external_attributes()) {
        return Err("its entry is no ordinary file");
    }
    Ok(())
}

/// Whether the headers and the data of its one entry are all of a zip: no byte lies before, between or after them, and no header
/// has an extra field or a comment.
fn fills<R: Read>(file: &ZipFile<R>, zip: &[u8]) -> bool {
    let name = file.name_raw().len() as u64;
    let [local, central, end] = HEADERS;
    let data_end = (local + name).checked_add(file.compressed_size());
    let place = |at: u64| usize::try_from(at).ok();
    let range = data_end.and_then(place).zip(place(file.central_header_start()));
    // A descriptor repeats checksum and sizes.
    let descriptor: Vec<u8> = [DESCRIPTOR, u64::from(file.crc32()), file.compressed_size(), file.size()]
        .iter()
        .flat_map(|number| number.to_le_bytes().into_iter().take(4))
        .collect();
    let between = range.and_then(|(from, to)| zip.get(from..to));
    file.header_start() == 0
        && file.data_start() == Some(local + name)
        && between.is_some_and(|bytes| bytes.is_empty() || bytes == descriptor || bytes == &descriptor[4..])
        && file.central_header_start() + central + name + end == zip.len() as u64
}

/// Unpacks the data of an entry, which must be all of `packed` and have the size and checksum that the entry states.
fn unpacked<R: Read>(file: &ZipFile<R>, packed: Vec<u8>) -> Result<Vec<u8>, Refusal> {
    let bytes = if file.compression() == CompressionMethod::Stored {
        packed
    } else {
        let mut decoder = DeflateDecoder::new(&packed[..]);
        let mut bytes = Vec::new();
        let read = decoder.by_ref().take(LARGEST + 1).read_to_end(&mut bytes);
        if bytes.len() as u64 > LARGEST {
            refuse!("the artifact unpacks to more than {LARGEST} bytes, although its header states fewer");
        }
        if read.is_err() || decoder.total_in() != packed.len() as u64 {
            refuse!("the artifact's file is damaged: it cannot be unpacked, or other bytes follow its data");
        }
        bytes
    };
    let mut checksum = Crc::new();
    checksum.update(&bytes);
    if bytes.len() as u64 != file.size() || checksum.sum() != file.crc32() {
        refuse!("the artifact's file is damaged: it has another size or checksum than its header states");
    }
    Ok(bytes)
}

/// Whether its attributes are those of an ordinary file: readable, maybe writable, not executable, no link.
fn is_plain_file(attributes: u32) -> bool {
    const FOLDER: u32 = 0x10;
    let mode = attributes >> 16;
    let known = mode == 0 || mode & 0o170_000 == 0o100_000;
    known && mode & 0o7111 == 0 && attributes & FOLDER == 0
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

    /// A zip of a file whose data are followed by these bytes, and whose headers hold these extra fields and comment.
    fn with_more(content: &[u8], after_data: &[u8], extra: [&[u8]; 2], comment: &[u8]) -> Vec<u8> {
        let good = zip(content);
        let central = good.windows(4).rposition(|bytes| bytes == b"PK\x01\x02").unwrap();
        let start = 30 + NAME.len();
        let short = |length: usize| u16::try_from(length).unwrap().to_le_bytes();
        let mut local = good[..start].to_vec();
        let packed = u32::from_le_bytes(local[18..22].try_into().unwrap()) + u32::try_from(after_data.len()).unwrap();
        local[18..22].copy_from_slice(&packed.to_le_bytes());
        local[28..30].copy_from_slice(&short(extra[0].len()));
        let mut directory = good[central..good.len() - 22].to_vec();
        directory[20..24].copy_from_slice(&packed.to_le_bytes());
        directory[30..32].copy_from_slice(&short(extra[1].len()));
        directory[32..34].copy_from_slice(&short(comment.len()));
        let entry = [&local, extra[0], &good[start..central], after_data].concat();
        let directory = [&directory, extra[1], comment].concat();
        let mut end = good[good.len() - 22..].to_vec();
        end[12..16].copy_from_slice(&u32::try_from(directory.len()).unwrap().to_le_bytes());
        end[16..20].copy_from_slice(&u32::try_from(entry.len()).unwrap().to_le_bytes());
        [entry, directory, end].concat()
    }

    #[test]
    fn nothing_is_hidden_behind_the_data_or_in_the_headers() {
        let content = b"{\"a\": 1}";
        let none: [&[u8]; 2] = [b"", b""];
        assert_eq!(only_file(&with_more(content, b"", none, b""), NAME).unwrap(), content);
        // An extra field of an unknown kind, one of a time, and one with another name.
        for extra in [&b"\xfe\xca\x04\0evil"[..], b"UT\x05\0\x01abcd", b"up\x09\0\x01abcdevil"] {
            assert!(only_file(&with_more(content, b"", [extra, b""], b""), NAME).is_err());
            assert!(only_file(&with_more(content, b"", [b"", extra], b""), NAME).is_err());
            assert!(only_file(&with_more(content, b"", [extra, extra], b""), NAME).is_err());
        }
        assert!(only_file(&with_more(content, b"", none, b"a comment"), NAME).is_err());
        for more in [&b"\0"[..], b"more", &zip(b"other")] {
            assert!(only_file(&with_more(content, more, none, b""), NAME).is_err());
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
