//! What a thread waits for, by the functions that the project's own code called.

use std::sync::LazyLock;

use regex::Regex;

/// Calls in which a thread waits for its next task: no request waits with it.
static IDLE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)^_*(epoll_|p?poll$|p?select$|accept|io_uring|kevent|sigwait)").expect("a valid expression")
});

/// Calls in which a thread waits for another one: for its next task, unless the call is a part of one in [`HELD_UP`].
static ANOTHER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?i)cond\w*(::|\.)?\w*wait|park|sem_.*wait").expect("a valid expression"));

/// Calls that hold up the task of a thread, whatever the runtime makes them of.
static HELD_UP: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)sleep|mutex|rwlock|\block_|monitor.*enter|atomics.?wait|futexemulation")
        .expect("a valid expression")
});

/// Calls that tell what a program waits for although none of the project's functions is known on the stack.
static KIND: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^_*((clock_)?nanosleep|f(data)?sync|flock|wait4|waitpid|connect)$").expect("a valid expression")
});

/// The call in which a thread waits. `calls` are the functions on its stack, innermost first; if the project's own code is on the
/// stack (`is_own`), only those that it called. Returns the outermost call that holds up the task, else the call that the project's
/// code made; `None` if the thread waits for its next task.
pub(super) fn call<'a>(calls: &[&'a str], is_own: bool) -> Option<&'a str> {
    if !is_own {
        return calls.iter().find(|call| KIND.is_match(call)).copied();
    }
    let any = |calls_of: &Regex| calls.iter().any(|call| calls_of.is_match(call));
    let held_up = calls
        .iter()
        .rfind(|call| HELD_UP.is_match(call) && !ANOTHER.is_match(call));
    let is_idle = any(&IDLE) || any(&ANOTHER) && held_up.is_none();
    held_up.or(calls.last()).copied().filter(|_| !is_idle)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_call_of_the_projects_own_code_is_named_unless_it_waits_for_its_next_task() {
        for (calls, is_own, named) in [
            (["clock_nanosleep", "nanosleep"].as_slice(), true, Some("nanosleep")),
            (
                &["__lll_lock_wait", "pthread_mutex_lock"],
                true,
                Some("pthread_mutex_lock"),
            ),
            (
                &["syscall", "std::sys::sync::mutex::futex::Mutex::lock_contended"],
                true,
                Some("std::sys::sync::mutex::futex::Mutex::lock_contended"),
            ),
            (&["recv"], true, Some("recv")),
            (
                &["epoll_wait", "mio::poll::Poll::poll", "tokio::runtime::park"],
                true,
                None,
            ),
            (&["__poll", "wait_for_client"], true, None),
            (&["futex", "pthread_cond_timedwait"], true, None),
            (&["syscall", "std::sync::poison::condvar::Condvar::wait"], true, None),
            (
                &["void java.util.concurrent.locks.LockSupport.park(java.lang.Object)"],
                true,
                None,
            ),
            (
                &["clock_nanosleep", "time_sleep", "PyEval_EvalFrame"],
                false,
                Some("clock_nanosleep"),
            ),
            (
                &["std::condition_variable::wait(std::unique_lock<std::mutex>&)"],
                true,
                None,
            ),
            (&["futex_wait", "worker"], false, None),
            (&["epoll_wait", "tokio::runtime::Runtime::block_on"], true, None),
            (
                &[
                    "pthread_cond_timedwait",
                    "java.lang.Thread.sleep",
                    "void shop.Stub.run()",
                ],
                true,
                Some("java.lang.Thread.sleep"),
            ),
            (
                &[
                    "pthread_cond_wait",
                    "v8::internal::FutexEmulation::Wait",
                    "Builtins_CEntry",
                ],
                true,
                Some("v8::internal::FutexEmulation::Wait"),
            ),
            (&[], true, None),
        ] {
            assert_eq!(super::call(calls, is_own), named, "{calls:?}");
        }
    }
}
