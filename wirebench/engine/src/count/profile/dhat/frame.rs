//! One frame as DHAT writes it: `0xADDRESS: name (file.c:12)`, `0xADDRESS: name (in /path/of/object)` or `[root]`.

use std::path::{Path, PathBuf};

use crate::count::profile::frame::Frame;
use crate::count::profile::symbols::is_system;
use crate::count::profile::{names, origin};

/// A frame as DHAT writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DhatFrame<'a> {
    /// The address in the process; `None` for the root of all stacks.
    pub(super) address: Option<u64>,
    /// The function, or `???`.
    pub(super) name: &'a str,
    /// Its source file, perhaps without folders.
    pub(super) file: Option<&'a str>,
    /// The program or library it is in, given if there is no source file.
    pub(super) object: Option<&'a str>,
}

impl<'a> DhatFrame<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let (address, rest) = match text.split_once(": ") {
            Some((address, rest)) => (address.strip_prefix("0x"), rest),
            None => (None, text),
        };
        let address = address.and_then(|digits| u64::from_str_radix(digits, 16).ok());
        let place = rest.strip_suffix(')').and_then(|rest| rest.rsplit_once(" ("));
        let (name, file, object) = match place {
            Some((name, place)) => match place.strip_prefix("in ") {
                Some(object) => (name, None, Some(object)),
                None => match place.rsplit_once(':') {
                    Some((file, line)) if !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit()) => {
                        (name, Some(file), None)
                    }
                    _ => (rest, None, None),
                },
            },
            None => (rest, None, None),
        };
        Self {
            address,
            name,
            file,
            object,
        }
    }

    /// The frame of this entry; `None` for the root.
    pub(super) fn frame(&self, inlined: bool) -> Option<Frame> {
        let address = self.address?;
        let function = if names::is_address(self.name) {
            let object = self.object.and_then(|path| path.rsplit('/').next());
            names::of_address(&format!("{address:x}"), object)
        } else {
            names::clean(self.name)
        };
        // A bare file name does not identify the folder.
        let origin = origin::of(&function, self.file.filter(|file| file.contains('/')));
        Some(Frame {
            function,
            origin,
            inlined,
        })
    }
}

/// The file of the program: the beginning of its command line that is a file, else an object of its own that frames name.
pub(super) fn program(command: &str, frames: &[DhatFrame<'_>]) -> Option<PathBuf> {
    let mut ends: Vec<usize> = command.match_indices(' ').map(|(at, _)| at).collect();
    ends.push(command.len());
    let beginnings = ends.into_iter().map(|end| &command[..end]);
    let objects = frames.iter().filter_map(|frame| frame.object);
    let objects = objects.filter(|path| !is_system(path));
    let mut candidates = beginnings.chain(objects).map(Path::new);
    candidates.find(|path| path.is_file()).map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, proptest};

    use super::DhatFrame;
    use crate::count::profile::frame::Origin;

    #[test]
    fn a_frame_is_taken_apart() {
        for (text, address, name, file, object) in [
            ("[root]", None, "[root]", None, None),
            ("0x1A: main (in /a/b)", Some(0x1a), "main", None, Some("/a/b")),
            ("0x1A: ??? (in /a/b)", Some(0x1a), "???", None, Some("/a/b")),
            (
                "0x1A: f(int, char) (a/b.c:12)",
                Some(0x1a),
                "f(int, char)",
                Some("a/b.c"),
                None,
            ),
            ("0x1A: f<a::B> (b.rs:3)", Some(0x1a), "f<a::B>", Some("b.rs"), None),
            ("0x1A: f(int)", Some(0x1a), "f(int)", None, None),
            (
                "0x1A: (below main) (x.h:58)",
                Some(0x1a),
                "(below main)",
                Some("x.h"),
                None,
            ),
            ("0x1A: ???", Some(0x1a), "???", None, None),
        ] {
            let expected = DhatFrame {
                address,
                name,
                file,
                object,
            };
            assert_eq!(DhatFrame::new(text), expected, "{text}");
        }
    }

    #[test]
    fn a_frame_without_a_name_is_an_address_and_the_root_is_none() {
        let frame = DhatFrame::new("0x1A0: ??? (in /a/lib.so)").frame(false).unwrap();
        assert_eq!(
            (frame.function.as_str(), frame.origin),
            ("0x1a0 in lib.so", Origin::Foreign)
        );
        assert_eq!(DhatFrame::new("[root]").frame(false), None);
        let inlined = DhatFrame::new("0x1: alloc (library/alloc/src/alloc.rs:95)")
            .frame(true)
            .unwrap();
        assert_eq!(inlined.origin, Origin::Standard);
    }

    proptest! {
        #[test]
        fn any_text_is_a_frame(text in any::<String>(), crooked in "0x[0-9A-G]{0,18}[: (in)/a.c0-9]{0,20}") {
            DhatFrame::new(&text).frame(true);
            DhatFrame::new(&crooked).frame(false);
        }
    }
}
