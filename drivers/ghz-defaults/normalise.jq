# ghz's JSON report → {elapsed_ns, answers: {code name: [latency ns]}, errors: {reason: count}}
include "ghz";
# When time is up ghz closes the connection, and counts the calls under way as Unavailable: they were neither answered nor refused.
ghz("ghz-defaults") | del(.errors["use of closed network connection"])
