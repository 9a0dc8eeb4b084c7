//! Server reflection: the description of the contract and of the health service.

use tonic_reflection::server::Builder;

use crate::generated::FILE_DESCRIPTOR_SET;

/// Builds the reflection service of a server that has the contract's services and the health service.
#[must_use]
pub fn reflection() -> Builder<'static> {
    Builder::configure()
        .register_encoded_file_descriptor_set(FILE_DESCRIPTOR_SET)
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
}
