//! One function in a call stack, and its owner: the project, other code, the standard library, or an allocator.
//!
//! Decides which frame of a call stack a cost is charged to.
//!
//! Users look for their own function, not for `Range::next` or `malloc`. So a cost goes to the innermost function of
//! the program or of one of its dependencies, if that can be determined.

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

/// Which frame of a stack a cost belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// Instructions: the innermost frame; inlined functions of the standard library are skipped outwards, up to and including
    /// the physical function around it. A physical function of the standard library keeps its own cost. An allocator's cost,
    /// with all that it calls, goes to its caller.
    Instructions,
    /// Instructions of a program whose stacks lose and mix up callers: the innermost frame, inlined functions skipped likewise.
    OwnInstructions,
    /// Allocations: the innermost frame that is neither an allocator's nor the standard library's.
    Allocations,
}

impl Rule {
    /// The position of the owner in a stack, outermost frame first; 0 in an empty one.
    pub fn owner(self, stack: &[&Frame]) -> usize {
        let is_allocator = |frame: &&Frame| frame.origin == Origin::Allocator;
        let before_allocator = stack.iter().position(is_allocator).unwrap_or(stack.len());
        let last = |is_owner: &dyn Fn(&Frame) -> bool| stack.iter().rposition(|frame| is_owner(frame));
        let innermost = |stack: &[&Frame]| {
            let mut frames = stack.iter();
            frames.rposition(|frame| !frame.inlined || frame.origin.is_written())
        };
        match self {
            Self::Instructions => innermost(&stack[..before_allocator]),
            Self::OwnInstructions => innermost(stack),
            Self::Allocations => {
                last(&|frame| frame.origin.is_written()).or_else(|| last(&|frame| frame.origin != Origin::Allocator))
            }
        }
        .unwrap_or(stack.len().saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::Rule;
    use crate::count::profile::frame::{Frame, Origin};

    /// `name`, or `+name` when inlined; `std:` and `alloc:` mark the owner.
    fn frame(text: &str) -> Frame {
        let (inlined, rest) = text.strip_prefix('+').map_or((false, text), |rest| (true, rest));
        let origin = match rest.split(':').next() {
            Some("std") => Origin::Standard,
            Some("alloc") => Origin::Allocator,
            _ => Origin::Foreign,
        };
        Frame {
            function: rest.to_owned(),
            origin,
            inlined,
        }
    }

    fn owner(rule: Rule, stack: &str) -> String {
        let frames: Vec<Frame> = stack.split(' ').map(frame).collect();
        let borrowed: Vec<&Frame> = frames.iter().collect();
        frames[rule.owner(&borrowed)].function.clone()
    }

    #[test]
    fn an_allocator_among_callers_that_are_mixed_up_owns_nothing() {
        let stack = "start alloc:malloc serve handler";
        assert_eq!(owner(Rule::Instructions, stack), "start");
        assert_eq!(owner(Rule::OwnInstructions, stack), "handler");
        assert_eq!(owner(Rule::OwnInstructions, "serve handler +std:next"), "handler");
    }

    #[test]
    fn instructions_belong_to_the_innermost_function_that_was_written_here() {
        for (stack, expected) in [
            ("main", "main"),
            ("main handler", "handler"),
            ("main handler +burn", "burn"),
            ("main handler +burn +std:next", "burn"),
            ("main handler +std:next +std:step", "handler"),
            ("main handler +std:map +closure +std:add", "closure"),
            ("main handler std:memcpy", "std:memcpy"),
            ("main handler std:sort +std:swap", "std:sort"),
            ("main handler std:sort +less", "less"),
            ("main alloc:malloc", "main"),
            ("main handler alloc:malloc alloc:_int_malloc", "handler"),
            ("main handler +burn +std:alloc alloc:calloc memset", "burn"),
            ("main std:grow alloc:realloc", "std:grow"),
            ("alloc:arena_thread alloc:je_purge", "alloc:je_purge"),
        ] {
            assert_eq!(owner(Rule::Instructions, stack), expected, "{stack}");
        }
    }

    #[test]
    fn allocations_belong_to_the_function_that_asked() {
        for (stack, expected) in [
            ("main alloc:malloc", "main"),
            ("main handler +std:push std:grow alloc:malloc", "handler"),
            ("main handler +answer +std:format std:grow alloc:malloc", "answer"),
            ("std:start std:thread alloc:malloc", "std:thread"),
            ("alloc:new alloc:malloc", "alloc:malloc"),
            ("main strdup alloc:malloc", "strdup"),
        ] {
            assert_eq!(owner(Rule::Allocations, stack), expected, "{stack}");
        }
    }

    #[test]
    fn an_empty_stack_is_no_panic() {
        assert_eq!(Rule::Instructions.owner(&[]), 0);
        assert_eq!(Rule::Allocations.owner(&[]), 0);
    }
}
