//! gRPC's frames: a compression flag and a length before each message.
//!
//! gRPC-web's trailer frame: the status is the last frame of the body, because HTTP/1.1 clients such as browsers do not see
//! trailers.

use std::borrow::Cow;
use std::io::Read;

use flate2::read::GzDecoder;

use crate::measure::wire::WireResponse;

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
    let frames = split(body)?.into_iter();
    frames
        .map(|frame| (!frame.compressed).then_some(frame.payload))
        .collect()
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

/// The bit of a frame's first byte that marks a trailer frame.
const TRAILERS: u8 = 0x80;
const CONTENT_TYPES: [&str; 2] = ["application/grpc-web+proto", "application/grpc-web"];
const OK: u16 = 200;

/// `grpc-status` and `grpc-message`.
type Status = (String, String);

/// Removes the trailer frame from the body of a response, or sets the reason why the response is invalid.
pub(in crate::measure) fn without_trailers(response: WireResponse, content_type: &str) -> WireResponse {
    match opened(&response, content_type) {
        Ok((body, status)) => WireResponse {
            body,
            grpc: Some(status),
            ..response
        },
        Err(fault) => WireResponse {
            fault: Some(fault),
            ..response
        },
    }
}

/// The frames with messages of a response, and its status; or the reason why it is invalid.
fn opened(response: &WireResponse, content_type: &str) -> Result<(Vec<u8>, Status), String> {
    let plain = content_type.split(';').next().unwrap_or_default().trim();
    if response.status != OK {
        return Err(format!("HTTP status {}", response.status));
    }
    if !CONTENT_TYPES.contains(&plain) {
        return Err(format!("content-type {content_type:?}, not {}", CONTENT_TYPES[0]));
    }
    let (messages, status) = split_trailers(&response.body)?;
    // Without a message, the status may be in the header.
    let status = status.or_else(|| response.grpc.clone());
    Ok((messages, status.ok_or("no trailer frame: the answer broke off")?))
}

/// Splits a body: the frames with messages, headers included, and the status; `None` without a trailer frame.
fn split_trailers(body: &[u8]) -> Result<(Vec<u8>, Option<Status>), String> {
    let mut left = body;
    let mut messages = Vec::new();
    while let Some((header, rest)) = left.split_at_checked(FRAME_HEADER_BYTES) {
        let length = u32::from_be_bytes([header[1], header[2], header[3], header[4]]);
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let Some((payload, rest)) = rest.split_at_checked(length) else {
            return Err(format!("a frame of {length} bytes of which {} are there", rest.len()));
        };
        if header[0] & TRAILERS == 0 {
            messages.extend(header);
            messages.extend(payload);
            left = rest;
            continue;
        }
        if header[0] != TRAILERS {
            return Err("a compressed trailer frame".into());
        }
        if !rest.is_empty() {
            return Err(format!("{} bytes after the trailer frame", rest.len()));
        }
        return Ok((messages, Some(trailers(payload)?)));
    }
    if left.is_empty() {
        return Ok((messages, None));
    }
    Err(format!("{} bytes that are no frame", left.len()))
}

/// Reads `name: value` lines: the status, and the message or nothing.
fn trailers(payload: &[u8]) -> Result<Status, String> {
    let bad = || {
        let text: String = String::from_utf8_lossy(payload).chars().take(100).collect();
        format!("a trailer frame without a grpc-status: {text:?}")
    };
    let text = std::str::from_utf8(payload).map_err(|_| bad())?;
    let mut status = None;
    let mut message = String::new();
    for line in text.split("\r\n").filter(|line| !line.is_empty()) {
        let (name, value) = line.split_once(':').ok_or_else(bad)?;
        let value = value.trim();
        match name.trim().to_ascii_lowercase().as_str() {
            "grpc-status" => status = value.parse::<u8>().ok().map(|status| status.to_string()),
            "grpc-message" => value.clone_into(&mut message),
            _ => {}
        }
    }
    Ok((status.ok_or_else(bad)?, message))
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

#[cfg(test)]
mod web_tests {
    use super::*;
    use crate::measure::grpc::frame::frame;
    use proptest::prelude::*;

    fn trailer(text: &str) -> Vec<u8> {
        let mut bytes = frame(text.as_bytes());
        bytes[0] = TRAILERS;
        bytes
    }

    fn response(body: Vec<u8>) -> WireResponse {
        WireResponse {
            status: OK,
            body,
            grpc: None,
            fault: None,
        }
    }

    fn fault(body: Vec<u8>) -> String {
        without_trailers(response(body), CONTENT_TYPES[0]).fault.unwrap()
    }

    #[test]
    fn the_trailer_frame_is_taken_out() {
        let body = [frame(b"hello"), trailer("grpc-status:0\r\ngrpc-message: \r\n")].concat();
        let plain = without_trailers(response(body), "application/grpc-web+proto; charset=x");
        assert_eq!((plain.body, plain.fault), (frame(b"hello"), None));
        assert_eq!(plain.grpc, Some(("0".into(), String::new())));
    }

    #[test]
    fn a_refusal_is_read_from_the_trailer_frame_or_the_header() {
        let refused = without_trailers(
            response(trailer("Grpc-Status: 5\r\ngrpc-message: none\r\n")),
            CONTENT_TYPES[1],
        );
        assert_eq!(refused.grpc, Some(("5".into(), "none".into())));
        let mut by_header = response(Vec::new());
        by_header.grpc = Some(("12".into(), String::new()));
        let by_header = without_trailers(by_header, CONTENT_TYPES[0]);
        assert_eq!((by_header.fault, by_header.grpc.unwrap().0), (None, "12".into()));
    }

    #[test]
    fn what_is_no_whole_answer_is_a_fault() {
        let hello = frame(b"hello");
        assert_eq!(fault(hello.clone()), "no trailer frame: the answer broke off");
        assert_eq!(fault(hello[..7].to_vec()), "a frame of 5 bytes of which 2 are there");
        assert_eq!(fault(b"no".to_vec()), "2 bytes that are no frame");
        let more = [trailer("grpc-status:0\r\n"), hello].concat();
        assert_eq!(fault(more), "10 bytes after the trailer frame");
        for bad in ["", "grpc-status", "grpc-status:ok\r\n", "grpc-message:x\r\n"] {
            assert!(
                fault(trailer(bad)).starts_with("a trailer frame without a grpc-status"),
                "{bad}"
            );
        }
        let page = without_trailers(response(Vec::new()), "text/html").fault.unwrap();
        assert_eq!(page, "content-type \"text/html\", not application/grpc-web+proto");
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_fault_or_keep_their_messages(body in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Ok((messages, _)) = split_trailers(&body) {
                prop_assert!(body.starts_with(&messages));
            }
        }
    }
}
