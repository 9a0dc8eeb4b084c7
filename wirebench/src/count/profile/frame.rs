//! One function in a call stack, and whose it is.

/// Whose function it is: what decides who is charged for a cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The program's or a dependency's own, or unknown.
    Own,
    /// The language's standard library's.
    Standard,
    /// An allocator's entry, such as `malloc` or `operator new`.
    Allocator,
}

/// One function in a call stack.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Frame {
    /// Its name, demangled, without what changes from build to build.
    pub function: String,
    /// Whose it is.
    pub origin: Origin,
    /// Whether the compiler inlined it into the frame outside of it.
    pub inlined: bool,
}
