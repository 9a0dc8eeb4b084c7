# ab's summary, the shares of -e and the rows of -g → {elapsed_ns, answers, histogram: {status: [[latency ns, count]]}, errors}
include "ab";
ab("ab-keepalive"; $summary; $shares; $rows)
