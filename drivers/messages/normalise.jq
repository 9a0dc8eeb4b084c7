# what `wirebench messages` prints → the same: {elapsed_ns, answers: {status: [ns since the message before]}, errors: {reason: count}}
include "read";

document("messages"; "the JSON object of wirebench messages")
| if has("answers") and has("elapsed_ns") then { elapsed_ns, answers, errors } else error("messages: expected answers and elapsed_ns, found \(keys)") end
