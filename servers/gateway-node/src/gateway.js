// A gateway before one service: answers HTTP with fastify, asks over HTTP/JSON or gRPC.
//
// Usage: node src/gateway.js --upstream http://ADDRESS|grpc://ADDRESS [--client undici|axios] --listen ADDRESS [--deadline-ms N]

import { read } from "./arguments.js";
import { overGrpc } from "./grpc.js";
import { overHttp } from "./http.js";
import { answering } from "./routes.js";

try {
  const { scheme, place, client, host, port, deadlineMs } = read();
  const url = `${scheme}://${place}`;
  const service = scheme === "grpc" ? overGrpc(place, deadlineMs) : overHttp(url, deadlineMs, client);
  const app = answering(service, url);
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit());
  // The one thing on standard output, for whoever started it on port 0.
  const address = await app.listen({ host, port });
  console.log(address.replace("http://", "ready "));
} catch (error) {
  console.error(`gateway: ${error.message}`);
  process.exit(1);
}
