//! gRPC's frames: a compression flag and a length before each message.

use std::borrow::Cow;
use std::io::Read;

use flate2::read::GzDecoder;

/// Bytes before each message on the wire: a compression flag and a length.
pub const FRAME_HEADER_BYTES: usize = 5;
/// The longest response, before and after it is decompressed.
pub(in crate::measure) const MAX_RESPONSE_BYTES: usize = 64 << 20;

/// Puts the length prefix before a message.
pub fn frame(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).expect("requests are declared in a TOML file, far below 4 GiB");
    let mut out = vec![0];
    out.extend(length.to_be_bytes());
    out.extend(message);
    out
}

/// The messages inside uncompressed frames, in order; `None` if the bytes are not such frames.
pub fn frames(body: &[u8]) -> Option<Vec<&[u8]>> {
    split(body)?.into_iter().map(Frame::uncompressed).collect()
}

/// Bytes of the messages inside the frames of a body, as they were sent; `None` if the bytes are not frames.
pub fn message_bytes(body: &[u8]) -> Option<usize> {
    split(body).map(|frames| frames.iter().map(|frame| frame.payload.len()).sum())
}

/// One frame of a body.
#[derive(Debug)]
pub(super) struct Frame<'a> {
    compressed: bool,
    payload: &'a [u8],
}

impl<'a> Frame<'a> {
    /// The message, if it is not compressed.
    fn uncompressed(self) -> Option<&'a [u8]> {
        (!self.compressed).then_some(self.payload)
    }

    /// The message, decompressed if necessary. Only gzip is supported: servers of every language have it.
    ///
    /// # Errors
    /// When gzip cannot read the message, or it is too long.
    pub(super) fn message(self) -> Result<Cow<'a, [u8]>, String> {
        if !self.compressed {
            return Ok(Cow::Borrowed(self.payload));
        }
        let mut message = Vec::new();
        let most = u64::try_from(MAX_RESPONSE_BYTES).unwrap_or(u64::MAX);
        let read = GzDecoder::new(self.payload).take(most + 1).read_to_end(&mut message);
        match read {
            Ok(length) if length <= MAX_RESPONSE_BYTES => Ok(Cow::Owned(message)),
            Ok(_) => Err(format!("a compressed message of more than {MAX_RESPONSE_BYTES} bytes")),
            Err(error) => Err(format!("a compressed message that gzip cannot read: {error}")),
        }
    }
}

/// The frames of a body, in order; `None` if the bytes are not whole frames.
pub(super) fn split(mut body: &[u8]) -> Option<Vec<Frame<'_>>> {
    let mut frames = Vec::new();
    while !body.is_empty() {
        let (header, rest) = body.split_at_checked(FRAME_HEADER_BYTES)?;
        let length = u32::from_be_bytes(header[1..].try_into().ok()?);
        let (payload, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
        let compressed = match header[0] {
            0 => false,
            1 => true,
            _ => return None,
        };
        frames.push(Frame { compressed, payload });
        body = rest;
    }
    Some(frames)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::{frame, frames, message_bytes, split};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_framed_message_comes_back(message in prop::collection::vec(any::<u8>(), 0..300)) {
            let framed = frame(&message);
            prop_assert_eq!(frames(&framed), Some(vec![message.as_slice()]));
        }

        #[test]
        fn other_bytes_are_refused_or_whole(body in prop::collection::vec(any::<u8>(), 0..300)) {
            if let Some(messages) = frames(&body) {
                let framed: Vec<Vec<u8>> = messages.into_iter().map(frame).collect();
                prop_assert_eq!(framed.concat(), body.clone());
            }
        }
    }

    #[test]
    fn a_stream_is_several_messages() {
        let body = [frame(b"one"), frame(b""), frame(b"three")].concat();
        assert_eq!(frames(&body), Some(vec![&b"one"[..], b"", b"three"]));
        assert_eq!((frames(&body[..body.len() - 1]), frames(&[])), (None, Some(vec![])));
    }

    #[test]
    fn a_compressed_message_is_opened_and_its_bytes_are_those_that_were_sent() {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(&[7; 4000]).unwrap();
        let mut framed = frame(&encoder.finish().unwrap());
        framed[0] = 1;
        let message = |body: &[u8]| {
            split(body)
                .unwrap()
                .remove(0)
                .message()
                .map(std::borrow::Cow::into_owned)
        };
        assert_eq!(message(&framed), Ok(vec![7; 4000]));
        assert_eq!(message_bytes(&framed), Some(framed.len() - 5));
        assert_eq!(frames(&framed), None);
        framed[8] ^= 0xff;
        assert!(message(&framed).unwrap_err().contains("gzip cannot read"));
        framed[0] = 2;
        assert!(split(&framed).is_none());
    }

    #[test]
    fn a_compressed_or_cut_frame_is_refused() {
        assert_eq!(frames(&[1, 0, 0, 0, 0]), None);
        assert_eq!(frames(&[0, 0, 0, 0, 2, 7]), None);
    }
}
