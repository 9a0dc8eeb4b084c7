//! The traffic between driver and server.

/// The bytes and connections that a relay counted, from the server's point of view.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wire {
    /// Connections that the driver opened.
    pub connections: u32,
    /// Bytes that the server sent.
    pub sent: u64,
    /// Bytes that the server received.
    pub received: u64,
    /// TCP segments with data that the server sent; `None` if the kernel does not count them.
    pub segments_sent: Option<u64>,
    /// Exchanges between driver and server.
    pub exchanges: u64,
    /// Exchanges before which driver and server did not both wait in time.
    pub unsettled: u64,
}
