// The program's arguments: whom it asks and by which client, where it listens, how long the service may take for a whole answer.

import { parseArgs } from "node:util";

const text = { type: "string" };
const options = { upstream: text, client: { ...text, default: "undici" }, listen: text, "deadline-ms": { ...text, default: "2000" } };

export const read = () => {
  const { values } = parseArgs({ options });
  const matching = (name, pattern, example) => {
    const found = pattern.exec(values[name] ?? "");
    if (!found) throw new Error(`--${name}: expected ${example}, found ${values[name] ?? "nothing"}`);
    return found.slice(1);
  };
  const [scheme, place] = matching("upstream", /^(http|grpc):\/\/([^/\s]+:\d+)$/, "a URL such as grpc://127.0.0.1:8080");
  const [client] = matching("client", /^(undici|axios)$/, "undici or axios");
  const [host, port] = matching("listen", /^\[?([^[\]\s]+?)\]?:(\d+)$/, "an address such as 127.0.0.1:8080");
  const [deadlineMs] = matching("deadline-ms", /^([1-9]\d{0,5})$/, "1 to 999999");
  return { scheme, place, client, host, port: Number(port), deadlineMs: Number(deadlineMs) };
};
