// The two services of the contract, as grpc-js' loader reads them, and how a lost service is looked for.

import { loadPackageDefinition } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";

// The next look for a service that is away is soon enough that nobody thinks the gateway lost.
export const OPTIONS = { "grpc.initial_reconnect_backoff_ms": 100, "grpc.max_reconnect_backoff_ms": 1_000 };

export const services = ({ files, includeDirs }) => {
  const { weather, metrics } = loadPackageDefinition(loadSync(files, { includeDirs, defaults: true })).wirebench;
  return { Weather: weather.v1.WeatherService, Metrics: metrics.v1.MetricsService };
};
