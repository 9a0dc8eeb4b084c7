//! The message codec: Protocol Buffers, with buffers sized for small messages.

use std::marker::PhantomData;

use prost::Message;
use tonic::codec::{BufferSettings, Codec};
use tonic_prost::ProstCodec;

/// First size of the two buffers every call takes. Weather messages and their 5-byte frame header are below 40 bytes, and
/// a buffer grows when it must; tonic's own 8 KiB are beyond what the allocator serves from its fast path.
const BUFFER_BYTES: usize = 256;

/// How much of a stream of messages is gathered before it is sent on; tonic's own value, without effect on single answers.
const YIELD_BYTES: usize = 32 * 1024;

/// Protocol Buffers in small buffers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SmallMessageCodec<Encoded, Decoded>(PhantomData<(Encoded, Decoded)>);

impl<Encoded, Decoded> Default for SmallMessageCodec<Encoded, Decoded> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<Encoded, Decoded> Codec for SmallMessageCodec<Encoded, Decoded>
where
    Encoded: Message + Send + 'static,
    Decoded: Message + Default + Send + 'static,
{
    type Encode = Encoded;
    type Decode = Decoded;
    type Encoder = <ProstCodec<Encoded, Decoded> as Codec>::Encoder;
    type Decoder = <ProstCodec<Encoded, Decoded> as Codec>::Decoder;

    fn encoder(&mut self) -> Self::Encoder {
        ProstCodec::<Encoded, Decoded>::raw_encoder(BufferSettings::new(BUFFER_BYTES, YIELD_BYTES))
    }

    fn decoder(&mut self) -> Self::Decoder {
        ProstCodec::<Encoded, Decoded>::raw_decoder(BufferSettings::new(BUFFER_BYTES, YIELD_BYTES))
    }
}
