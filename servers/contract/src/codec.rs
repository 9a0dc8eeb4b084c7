//! How messages become bytes: in room that fits them.
//!
//! tonic's own way sets 8 KiB aside for every question and every answer, and doubles that where it is not enough: at 1,000
//! connections the greater part of a server's memory. Here an answer takes what it is long.

use std::marker::PhantomData;

use prost::Message;
use tonic::Status;
use tonic::codec::{BufferSettings, Codec, EncodeBuf, Encoder};
use tonic_prost::{ProstCodec, ProstDecoder};

/// Room that is set aside before a message's length is known, in bytes: nearly every question fits, and every short answer.
const ROOM: usize = 256;
/// What a stream gathers before it is sent, in bytes; tonic's own figure.
const GATHERED: usize = 32 * 1024;

/// Protobuf in room that fits: takes `T` and makes `U`.
#[derive(Debug)]
pub(crate) struct Fitting<T, U>(PhantomData<(T, U)>);

impl<T, U> Default for Fitting<T, U> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<T, U> Codec for Fitting<T, U>
where
    T: Message + Send + 'static,
    U: Message + Default + Send + 'static,
{
    type Encode = T;
    type Decode = U;
    type Encoder = FittingEncoder<T>;
    type Decoder = ProstDecoder<U>;

    fn encoder(&mut self) -> Self::Encoder {
        FittingEncoder(PhantomData)
    }

    fn decoder(&mut self) -> Self::Decoder {
        ProstCodec::<T, U>::raw_decoder(settings())
    }
}

/// Writes messages in room that fits.
#[derive(Debug)]
pub(crate) struct FittingEncoder<T>(PhantomData<T>);

impl<T: Message> Encoder for FittingEncoder<T> {
    type Item = T;
    type Error = Status;

    fn encode(&mut self, message: T, room: &mut EncodeBuf<'_>) -> Result<(), Status> {
        room.reserve(message.encoded_len());
        message
            .encode(room)
            .map_err(|error| Status::internal(format!("cannot write the message: {error}")))
    }

    fn buffer_settings(&self) -> BufferSettings {
        settings()
    }
}

fn settings() -> BufferSettings {
    BufferSettings::new(ROOM, GATHERED)
}
