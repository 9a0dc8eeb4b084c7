# What the filters of the load generators share: reading a tool's document, and naming why a request got no answer.

# text → its first 60 characters as JSON, or "nothing": how an error message shows what was found
def excerpt: if . == "" then "nothing" else .[:60] | tojson end;

# text → the object it holds; an error naming the driver when it holds anything else
def document($driver; $expected):
  . as $text
  # In an array, because an open try of jq 1.6 also catches the errors of the filters that follow it.
  | ([try fromjson catch null] | .[0])
  | if type == "object" then . else error("\($driver): expected \($expected), found \($text | excerpt)") end;

# error text of a Go program → its last part, free of addresses and ports: "…: connect: connection refused" → "connection refused"
def reason: split(": ") | .[-1] | rtrimstr("\"");

# {error text: count} → {reason: count}
def tally: reduce to_entries[] as $entry ({}; .[$entry.key | reason] += $entry.value);

# {what was bad: count} of a tool that does not say which of its answers these are → the one status for all of them
def mixed($good; $all; $bad):
  if $bad == {} then $good
  elif ($bad | length) == 1 and $bad[] == $all then $bad | keys[0]
  else "\($good), with \($bad | to_entries | map("\(.value) \(.key)") | join(", ")) among them" end;
