//! gRPC with TLS between tiers: the next tier is believed only when the named authority has signed for it.

use std::path::Path;

use server_runtime::testing::{Pair, start_secure};

use super::PROGRAM;
use super::asking::get;

#[test]
fn the_next_tier_is_verified() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("gateway");
    let (pair, other) = (Pair::make(&folder), Pair::make(&folder.join("another")));
    let arguments = ["--role", "repository", "--serve", "grpc"];
    let secure = start_secure(PROGRAM, &pair, &arguments);
    let plain = PROGRAM.start(&arguments);
    for (next, authority, expected) in [
        (&secure, &pair.authority, 200),
        (&secure, &other.authority, 503),
        (&plain, &pair.authority, 503),
    ] {
        let upstream = format!("grpcs://{}", next.address);
        let ca = authority.to_str().unwrap();
        let gateway = PROGRAM.start(&["--role", "gateway", "--upstream", &upstream, "--ca", ca]);
        let (status, body) = get(gateway.address, "/api/weather/current?city=Kyiv");
        assert_eq!(status, expected, "{body}");
    }
}
