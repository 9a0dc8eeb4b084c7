//! One function in a call stack, and its owner: the project, other code, the standard library, or an allocator.

/// The owner of a function, which decides which function a cost is charged to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The project's own: its source file lies in the repository.
    Project,
    /// A dependency's, or unknown.
    Foreign,
    /// The language's standard library's, or the system's.
    Standard,
    /// An allocator's, such as `malloc`, `operator new` or `_int_free`.
    Allocator,
}

impl Origin {
    /// True for code of the program or of one of its dependencies.
    #[must_use]
    pub const fn is_written(self) -> bool {
        matches!(self, Self::Project | Self::Foreign)
    }
}

/// One function in a call stack.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Frame {
    /// Its name, demangled, without what changes from build to build.
    pub function: String,
    /// Its owner.
    pub origin: Origin,
    /// Whether the compiler inlined it into the next outer frame.
    pub inlined: bool,
}
