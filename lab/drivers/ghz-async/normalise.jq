# ghz's JSON report → {elapsed_ns, answers: {code name: [latency ns]}, errors: {reason: count}}
include "ghz";
ghz("ghz-async")
