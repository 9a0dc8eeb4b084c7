// By connect-es over gRPC: an implementation of its own on Node.js' HTTP/2, not a layer over grpc-js.

import { createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import protobuf from "protobufjs";
import "protobufjs/ext/descriptor.js";

// The contract as a descriptor set, which connect-es reads.
const registry = ({ files, includeDirs }) => {
  const root = new protobuf.Root();
  root.resolvePath = (from, file) => `${includeDirs[0]}/${file}`;
  root.loadSync(files).resolveAll();
  const set = root.toDescriptor("proto3");
  return createFileRegistry(fromBinary(FileDescriptorSetSchema, set.constructor.encode(set).finish()));
};

export const calls = ({ place, deadlineMs, ...contract }) => {
  const known = registry(contract);
  const transport = createGrpcTransport({ baseUrl: `http://${place}`, defaultTimeoutMs: deadlineMs });
  const call = (service, method) => {
    const client = createClient(known.getService(service), transport);
    return (question) =>
      client[method](question).catch((error) => {
        const { code, rawMessage } = ConnectError.from(error);
        throw { code, details: rawMessage };
      });
  };
  return {
    weather: call("wirebench.weather.v1.WeatherService", "getCurrentWeather"),
    document: call("wirebench.metrics.v1.MetricsService", "getMetricsDocument"),
  };
};
