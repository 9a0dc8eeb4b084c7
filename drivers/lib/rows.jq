# What the filters share that read one row for each request.

# [[latency ns, status, end]] → {status: [latency ns]}; built by collecting, because adding to an array in a loop copies it each time
def by_status: . as $rows
  | reduce ([.[][1]] | unique[]) as $status ({}; .[$status] = [$rows[] | select(.[1] == $status) | .[0]]);
