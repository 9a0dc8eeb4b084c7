// Asking the service over HTTP with JSON, by one of four clients. All keep connections; over HTTP/1.1 with one question at a time on each,
// over HTTP/2 with all questions on one.

import { Failure, lost, tooLate } from "./failure.js";

// The longest answer that is taken, in bytes; questions under way at once. Both as in the gateway in Rust.
const LONGEST = 1 << 20;
const AT_ONCE = 128;

// A pool as undici has it; fetch takes it too.
const pool = ({ Pool }, url) => new Pool(url, { connections: AT_ONCE, maxResponseSize: LONGEST });

const requesting = (dispatcher) => async (path, signal) => {
  const { statusCode, body } = await dispatcher.request({ method: "GET", path, signal });
  return { status: statusCode, data: await body.json() };
};

// Only the library that is used is loaded.
const CLIENTS = {
  // Node.js' own client, without the layer of its fetch: HTTP as cheap as Node.js has it. The newest version for Node.js 20.
  undici: async (url) => requesting(pool(await import("undici"), url)),
  // The same with that layer.
  fetch: async (url) => {
    const undici = await import("undici");
    const dispatcher = pool(undici, url);
    return async (path, signal) => {
      const answer = await undici.fetch(url + path, { signal, dispatcher });
      return { status: answer.status, data: await answer.json() };
    };
  },
  // HTTP/2 without TLS.
  "undici-h2": async (url) => {
    const { H2CClient } = await import("undici");
    return requesting(new H2CClient(url, { maxConcurrentStreams: AT_ONCE, pipelining: AT_ONCE, maxResponseSize: LONGEST }));
  },
  // axios, on Node.js' own agent, which keeps connections.
  axios: async (url) => {
    const { default: axios } = await import("axios");
    const client = axios.create({ baseURL: url, maxContentLength: LONGEST, validateStatus: null, proxy: false });
    return (path, signal) => client.get(path, { signal });
  },
};

export const over = async ({ url, client, deadlineMs }) => {
  const get = await CLIENTS[client](url);
  const ask = async (path) => {
    const signal = AbortSignal.timeout(deadlineMs);
    const { status, data } = await get(path, signal).catch((error) => {
      throw signal.aborted ? tooLate(url, deadlineMs) : lost(url, error.message);
    });
    if (status === 200) return data;
    if (typeof data?.error !== "string") throw lost(url, `status ${status}, and no reason for it`);
    throw new Failure([400, 404, 504].includes(status) ? status : 503, data.error);
  };
  return {
    weather: (city) => ask(`/api/weather/current?city=${encodeURIComponent(city)}`),
    document: () => ask("/api/metrics/document"),
  };
};
