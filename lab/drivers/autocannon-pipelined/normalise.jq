# autocannon's JSON and the lines of collect.cjs → {elapsed_ns, answers: {status: [latency ns]}, errors: {reason: count}}
include "autocannon";
autocannon("autocannon-pipelined"; $summary; $threads)
