# held.json → the arguments of wirebench that select the series of every goal with a ratio of timings, one a line.
[.[] | select(.goal) | .ours, .beside // empty | select(contains("@")) / "@"]
| (map(.[0]) | unique[] | "--scenario", .), (map(.[1]) | unique[] | "--server", .)
