//! What went over the wire between driver and server.

/// Bytes and connections that a relay saw, from the server's point of view.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wire {
    /// Connections that the driver opened.
    pub connections: u32,
    /// Bytes that the server sent.
    pub sent: u64,
    /// Bytes that the server received.
    pub received: u64,
    /// TCP segments with data that the server sent; none where the kernel does not tell.
    pub segments_sent: Option<u64>,
    /// Turns of the dialogue.
    pub turns: u64,
    /// Turns for which driver and server were not seen at rest in time.
    pub restless: u64,
}
