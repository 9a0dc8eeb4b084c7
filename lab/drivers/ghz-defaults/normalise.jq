# ghz's JSON report → {elapsed_ns, answers: {code name: [latency ns]}, errors: {reason: count}, cut_off}
include "ghz";
# When time is up ghz closes the connection, and counts the calls under way as Unavailable: they were neither answered nor refused.
"use of closed network connection" as $cut_off
| ghz("ghz-defaults") | .cut_off = (.errors[$cut_off] // 0) | del(.errors[$cut_off])
