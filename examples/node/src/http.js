// Answers for the weather over HTTP with fastify.

import fastify from "fastify";
import { weatherOf } from "./weather.js";

const app = fastify();

app.get("/health", async () => ({ status: "ok" }));

app.get("/weather/:city", async (request, reply) => {
  const weather = weatherOf(request.params.city);
  return weather ?? reply.code(404).send({ error: "no such city" });
});

for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => app.close());

await app.listen({ host: "127.0.0.1", port: Number(process.env.PORT ?? 3000) });
