// Answers for the weather over gRPC with grpc-js.

import { fileURLToPath } from "node:url";
import grpc from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { weatherOf } from "./weather.js";

const proto = fileURLToPath(new URL("../proto/weather/v1/weather.proto", import.meta.url));
const { weather } = grpc.loadPackageDefinition(loadSync(proto, { defaults: true }));

const getWeather = (call, answer) => {
  const found = weatherOf(call.request.city);
  answer(found ? null : { code: grpc.status.NOT_FOUND, details: "no such city" }, found);
};

const server = new grpc.Server();
server.addService(weather.v1.Weather.service, { getWeather });
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => server.tryShutdown(() => process.exit()));

server.bindAsync(`127.0.0.1:${process.env.PORT ?? 50051}`, grpc.ServerCredentials.createInsecure(), (error) => {
  if (error) throw error;
});
