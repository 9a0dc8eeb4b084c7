// A gateway before one service: answers HTTP with fastify, asks over HTTP/JSON or gRPC.
//
// Usage: node src/gateway.js --upstream http://ADDRESS|grpc://ADDRESS [--client undici|axios] --listen ADDRESS [--deadline-ms N]

import { read } from "./arguments.js";
import { answering } from "./routes.js";

try {
  const { scheme, place, client, host, port, deadlineMs } = read();
  const url = `${scheme}://${place}`;
  // Only the libraries that are used are loaded.
  const asking = await import(`./${scheme}.js`);
  const app = answering(asking.over(url, deadlineMs, client), url);
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit());
  // The one thing on standard output, for whoever started it on port 0.
  const address = await app.listen({ host, port });
  console.log(address.replace("http://", "ready "));
} catch (error) {
  console.error(`gateway: ${error.message}`);
  process.exit(1);
}
