# Methods of each process, one a line, as Agent.java wrote them → the bytecodes that each method executed

# A lambda has the name of the method around it.
{functions: [
  [inputs] | group_by([.file, .name])[]
  | {name: .[0].name, file: .[0].file, line: (map(.line) | min), last: (map(.last) | max), count: (map(.count) | add), calls: (map(.calls) | add)}
]}
