// What the gateway answers over HTTP: paths, bytes and refusals of the gateway in Rust, for what the comparisons ask.

import fastify from "fastify";
import { Failure, lost } from "./failure.js";

const WEATHER = ["city", "temperatureC", "humidity", "condition"];
const DOCUMENT = ["contentType", "text"];

// What is passed on is made anew from the fields that it must have, as a gateway does that knows its types.
const made = (answer, fields, url) => {
  const lacking = fields.find((field) => answer?.[field] === undefined);
  if (lacking) throw lost(url, `its answer has no ${lacking}`);
  return Object.fromEntries(fields.map((field) => [field, answer[field]]));
};

// Without this, fastify adds a charset, which JSON does not have.
const json = (reply) => reply.header("content-type", "application/json").serializer(JSON.stringify);

export const answering = (service, url) => {
  const app = fastify();
  app.get("/health", async () => "ok");
  app.get("/api/weather/current", async (request, reply) => {
    const { city = "" } = request.query;
    if (typeof city !== "string") throw new Failure(400, "duplicate field `city`: ask in the form ?city=Kyiv");
    return json(reply).send(made(await service.weather(city), WEATHER, url));
  });
  app.get("/api/metrics/document", async (_, reply) => json(reply).send(made(await service.document(), DOCUMENT, url)));
  app.setNotFoundHandler((request) => {
    throw new Failure(404, `nothing at ${request.url.slice(0, 100)}: ask for /api/weather/current?city=Kyiv or /health`);
  });
  app.setErrorHandler((error, _, reply) => json(reply.code(error.statusCode ?? 500)).send({ error: error.message }));
  return app;
};
