// Asking the service over gRPC by one of three clients: one connection, on which all questions travel beside each other. The contract is
// read when the program starts, as frameworks do it.

import { fileURLToPath } from "node:url";
import { status } from "@grpc/grpc-js";
import { Failure, lost, tooLate } from "./failure.js";

const includeDirs = [fileURLToPath(new URL("../../../../proto", import.meta.url))];
const files = ["weather", "metrics"].map((name) => `wirebench/${name}/v1/${name}.proto`);

const failure = ({ code, details }, url, deadlineMs) => {
  if (code === status.INVALID_ARGUMENT) return new Failure(400, details);
  if (code === status.NOT_FOUND) return new Failure(404, details);
  return code === status.DEADLINE_EXCEEDED ? tooLate(url, deadlineMs) : lost(url, details);
};

// A client is made of the service's place, the certificate of a service with TLS and the deadline; it gives the two calls, whose failures
// have a code and details.
export const over = async ({ url, place, client, ca, deadlineMs }) => {
  const { calls } = await import(`./grpc/${client}.js`);
  const { weather, document } = await calls({ place, ca, deadlineMs, includeDirs, files });
  const ask = (call, question) =>
    call(question).catch((error) => {
      throw failure(error, url, deadlineMs);
    });
  return { weather: (city) => ask(weather, { city }), document: () => ask(document, {}) };
};
