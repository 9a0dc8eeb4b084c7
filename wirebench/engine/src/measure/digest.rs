//! SHA-256 digests as hex digits.

use sha2::{Digest as _, Sha256};

/// Bytes as hex digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The SHA-256 of bytes, 64 hex digits.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Twelve hex digits that identify a text.
pub fn short(text: &str) -> String {
    first_bytes(text, SHORT_BYTES)
}

/// The first bytes of a text's SHA-256.
pub fn first_bytes(text: &str, count: usize) -> String {
    hex(&Sha256::digest(text.as_bytes())[..count])
}

/// The bytes of a digest that identify something within a project.
pub(super) const SHORT_BYTES: usize = 6;
