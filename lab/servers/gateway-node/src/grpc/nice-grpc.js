// By nice-grpc, a layer of promises over grpc-js.

import { status } from "@grpc/grpc-js";
import { createChannel, createClient } from "nice-grpc";
import { OPTIONS, services } from "./contract.js";

export const calls = ({ place, deadlineMs, ...contract }) => {
  const { Weather, Metrics } = services(contract);
  const channel = createChannel(place, undefined, OPTIONS);
  const call = (service, method) => {
    const client = createClient(service.service, channel);
    // An aborted call is one whose time is over: nobody else aborts.
    return (question) => {
      const signal = AbortSignal.timeout(deadlineMs);
      return client[method](question, { signal }).catch((error) => {
        throw signal.aborted ? { code: status.DEADLINE_EXCEEDED, details: "aborted" } : error;
      });
    };
  };
  return { weather: call(Weather, "GetCurrentWeather"), document: call(Metrics, "GetMetricsDocument") };
};
