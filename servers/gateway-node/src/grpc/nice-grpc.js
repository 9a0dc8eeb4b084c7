// By nice-grpc, a layer of promises over grpc-js.

import { createChannel, createClient } from "nice-grpc";
import { OPTIONS, services } from "./contract.js";

export const calls = ({ place, deadlineMs, ...contract }) => {
  const { Weather, Metrics } = services(contract);
  const channel = createChannel(place, undefined, OPTIONS);
  const call = (service, method) => {
    const client = createClient(service.service, channel);
    // An aborted call is one whose time is over: nobody else aborts.
    return (question) =>
      client[method](question, { signal: AbortSignal.timeout(deadlineMs) }).catch((error) => {
        throw error.name === "AbortError" ? { code: 4, details: "aborted" } : error;
      });
  };
  return { weather: call(Weather, "GetCurrentWeather"), document: call(Metrics, "GetMetricsDocument") };
};
