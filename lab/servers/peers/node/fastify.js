// fastify with a schema for request and response, as its documentation advises.
import fastify from "fastify";
import { current } from "./weather.js";

const text = { type: "string" };
const number = { type: "number" };
const schema = {
  querystring: { type: "object", required: ["city"], properties: { city: text } },
  response: {
    200: { type: "object", properties: { city: text, temperatureC: number, humidity: { type: "integer" }, condition: text } },
  },
};

const app = fastify();
app.get("/api/weather/current", { schema }, async (request, reply) => {
  const found = current(request.query.city);
  if (found === undefined) return reply.code(404).send({ error: "no such city" });
  return found;
});
app.get("/health", async () => "ok");

await app.listen({ host: process.argv[2], port: Number(process.argv[3]), backlog: 4096 });
