// By grpc-js itself, plain or over TLS.

import { readFileSync } from "node:fs";
import { Metadata, credentials } from "@grpc/grpc-js";
import { OPTIONS, services } from "./contract.js";

export const calls = ({ place, ca, deadlineMs, ...contract }) => {
  const { Weather, Metrics } = services(contract);
  const secret = ca ? credentials.createSsl(readFileSync(ca)) : credentials.createInsecure();
  const call = (service, method) => (question) =>
    new Promise((resolve, reject) => {
      const options = { deadline: Date.now() + deadlineMs };
      service[method](question, new Metadata(), options, (error, answer) => (error ? reject(error) : resolve(answer)));
    });
  return {
    weather: call(new Weather(place, secret, OPTIONS), "getCurrentWeather"),
    document: call(new Metrics(place, secret, OPTIONS), "getMetricsDocument"),
  };
};
