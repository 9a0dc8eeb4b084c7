// grpc-js as its documentation shows it; the contract is read when the program starts.
import { fileURLToPath } from "node:url";
import grpc from "@grpc/grpc-js";
import loader from "@grpc/proto-loader";
import { current } from "./weather.js";

const root = fileURLToPath(new URL("../../../../proto", import.meta.url));
const described = loader.loadSync("wirebench/weather/v1/weather.proto", { includeDirs: [root] });
const { WeatherService } = grpc.loadPackageDefinition(described).wirebench.weather.v1;

const server = new grpc.Server();
server.addService(WeatherService.service, {
  getCurrentWeather({ request }, callback) {
    const found = current(request.city ?? "");
    if (found === undefined) callback({ code: grpc.status.NOT_FOUND, details: "no such city" });
    else callback(null, found);
  },
});
server.bindAsync(process.argv[2], grpc.ServerCredentials.createInsecure(), (error) => {
  if (error) throw error;
});
