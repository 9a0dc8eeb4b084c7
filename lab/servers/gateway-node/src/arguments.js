// The program's arguments: whom it asks and by which client, where it listens, how long the service may take for a whole answer.

import { parseArgs } from "node:util";

const text = { type: "string" };
const options = { upstream: text, client: text, ca: text, listen: text, "deadline-ms": { ...text, default: "2000" } };

// The clients of each protocol; the first is used when none is named.
const CLIENTS = { http: ["undici", "fetch", "axios", "undici-h2"], grpc: ["grpc-js", "nice-grpc", "connect"] };

export const read = () => {
  const { values } = parseArgs({ options });
  const matching = (name, pattern, example) => {
    const found = pattern.exec(values[name] ?? "");
    if (!found) throw new Error(`--${name}: expected ${example}, found ${values[name] ?? "nothing"}`);
    return found.slice(1);
  };
  const [scheme, secure, place] = matching("upstream", /^(http|grpc)(s?):\/\/([^/\s]+:\d+)$/, "a URL such as grpc://127.0.0.1:8080");
  const clients = CLIENTS[scheme];
  const client = values.client ?? clients[0];
  if (!clients.includes(client)) throw new Error(`--client: expected ${clients.join(", ")} for ${scheme}, found ${client}`);
  if (secure && (scheme !== "grpc" || client !== "grpc-js")) throw new Error("--upstream: TLS is there for gRPC by grpc-js");
  if (Boolean(secure) !== Boolean(values.ca)) throw new Error("--ca: a certificate belongs to grpcs:// and to nothing else");
  const [host, port] = matching("listen", /^\[?([^[\]\s]+?)\]?:(\d+)$/, "an address such as 127.0.0.1:8080");
  const [deadlineMs] = matching("deadline-ms", /^([1-9]\d{0,5})$/, "1 to 999999");
  return { scheme, secure, place, client, ca: values.ca, host, port: Number(port), deadlineMs: Number(deadlineMs) };
};
