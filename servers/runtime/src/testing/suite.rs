//! The tests that every server's program has.

/// Makes a test of each check that every server must pass.
///
/// `$program` is the server's program, `$ask` sends [`REQUESTS`](crate::testing::REQUESTS) requests to a server at an address,
/// and `$alpn` lists the protocols that the server offers over TLS.
#[macro_export]
macro_rules! test_program {
    ($program:expr, $ask:expr, $alpn:expr) => {
        #[test]
        fn a_burn_slows_every_request_down() {
            $crate::testing::a_burn_slows_every_request_down($program, $ask);
        }

        #[test]
        fn wasted_instructions_are_counted() {
            $crate::testing::wasted_instructions_are_counted($program, $ask);
        }

        #[test]
        fn wasted_allocations_are_counted() {
            $crate::testing::wasted_allocations_are_counted($program, $ask);
        }

        #[test]
        fn wasted_syscalls_are_counted() {
            $crate::testing::wasted_syscalls_are_counted($program, $ask);
        }

        #[test]
        fn a_taken_port_is_refused() {
            $crate::testing::taken_port_is_refused($program);
        }

        #[test]
        fn port_zero_takes_a_free_port() {
            $crate::testing::port_zero_takes_a_free_port($program);
        }

        #[test]
        fn wrong_arguments_are_refused() {
            $crate::testing::wrong_arguments_are_refused($program);
        }

        #[test]
        fn help_explains_every_argument() {
            $crate::testing::help_explains_every_argument($program);
        }

        #[test]
        fn threads_are_as_asked() {
            $crate::testing::threads_are_as_asked($program);
        }

        #[test]
        fn tls_is_verified() {
            let folder = ::std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(env!("CARGO_PKG_NAME"));
            for protocol in $alpn {
                $crate::testing::tls_is_verified($program, &folder, protocol);
            }
            $crate::testing::wrong_certificates_are_refused($program, &folder);
        }
    };
}
