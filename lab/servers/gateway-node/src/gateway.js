// A gateway before one service: answers HTTP with fastify, asks over HTTP/JSON or gRPC.
//
// Usage: node src/gateway.js --upstream http://ADDRESS|grpc://ADDRESS|grpcs://ADDRESS [--client NAME] [--ca FILE] --listen ADDRESS
//        [--deadline-ms N]
// Clients: undici, fetch, axios, undici-h2 for http; grpc-js, nice-grpc, connect for grpc.

import { read } from "./arguments.js";
import { answering } from "./routes.js";

try {
  const { scheme, secure, place, client, ca, host, port, deadlineMs } = read();
  const url = `${scheme}${secure}://${place}`;
  // Only the libraries that are used are loaded.
  const asking = await import(`./${scheme}.js`);
  const app = answering(await asking.over({ url, place, client, ca, deadlineMs }), url);
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit());
  // The one thing on standard output, for whoever started it on port 0.
  const address = await app.listen({ host, port });
  console.log(address.replace("http://", "ready "));
} catch (error) {
  console.error(`gateway: ${error.message}`);
  process.exit(1);
}
