// Asking the service over gRPC with grpc-js: one connection, on which all questions travel beside each other. The contract is read when
// the program starts, as frameworks do it.

import { fileURLToPath } from "node:url";
import { Metadata, credentials, loadPackageDefinition, status } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { Failure, lost, tooLate } from "./failure.js";

const includeDirs = [fileURLToPath(new URL("../../../proto", import.meta.url))];
const files = ["weather", "metrics"].map((name) => `wirebench/${name}/v1/${name}.proto`);

// The next look for a service that is away is soon enough that nobody thinks the gateway lost.
const OPTIONS = { "grpc.initial_reconnect_backoff_ms": 100, "grpc.max_reconnect_backoff_ms": 1_000 };

const failure = ({ code, details }, url, deadlineMs) => {
  if (code === status.INVALID_ARGUMENT) return new Failure(400, details);
  if (code === status.NOT_FOUND) return new Failure(404, details);
  return code === status.DEADLINE_EXCEEDED ? tooLate(url, deadlineMs) : lost(url, details);
};

export const over = (url, deadlineMs) => {
  const { weather, metrics } = loadPackageDefinition(loadSync(files, { includeDirs, defaults: true })).wirebench;
  const place = url.slice("grpc://".length);
  const weatherService = new weather.v1.WeatherService(place, credentials.createInsecure(), OPTIONS);
  const metricsService = new metrics.v1.MetricsService(place, credentials.createInsecure(), OPTIONS);
  const ask = (service, method, question) =>
    new Promise((resolve, reject) => {
      const options = { deadline: Date.now() + deadlineMs };
      service[method](question, new Metadata(), options, (error, answer) => {
        if (error) reject(failure(error, url, deadlineMs));
        else resolve(answer);
      });
    });
  return {
    weather: (city) => ask(weatherService, "getCurrentWeather", { city }),
    document: () => ask(metricsService, "getMetricsDocument", {}),
  };
};
