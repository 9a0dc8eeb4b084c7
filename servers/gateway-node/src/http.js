// Asking the service over HTTP/1.1 with JSON, by one of two clients. Both keep connections, with one question at a time on each.

import axios from "axios";
import { Pool } from "undici";
import { Failure, lost, tooLate } from "./failure.js";

// The longest answer that is taken, in bytes; questions under way at once. Both as in the gateway in Rust.
const LONGEST = 1 << 20;
const AT_ONCE = 128;

const CLIENTS = {
  // Node.js' own client, without the layer of its fetch: HTTP as cheap as Node.js has it. The newest version for Node.js 20.
  undici: (url) => {
    const pool = new Pool(url, { connections: AT_ONCE, maxResponseSize: LONGEST });
    return async (path, signal) => {
      const { statusCode, body } = await pool.request({ method: "GET", path, signal });
      return { status: statusCode, data: await body.json() };
    };
  },
  // axios, on Node.js' own agent, which keeps connections.
  axios: (url) => {
    const client = axios.create({ baseURL: url, maxContentLength: LONGEST, validateStatus: null, proxy: false });
    return (path, signal) => client.get(path, { signal });
  },
};

export const over = (url, deadlineMs, client) => {
  const get = CLIENTS[client](url);
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
