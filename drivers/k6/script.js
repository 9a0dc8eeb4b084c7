// What k6 runs: one request, again and again, as the environment says. How long, how often and over how many connections k6 is
// told as usual, by `options`; every request's time goes to --out csv.
import exec from 'k6/execution'
import grpc from 'k6/net/grpc'
import http from 'k6/http'
import { sleep } from 'k6'

const asked = __ENV
const connections = Number(asked.CONNECTIONS)
const body = asked.BODY ? open(asked.BODY, 'b') : null
const headers = {}
for (const line of (asked.HEADERS || '').split('\n').filter((line) => line !== '')) {
  const colon = line.indexOf(':')
  headers[line.slice(0, colon)] = line.slice(colon + 1).trim()
}
// A text such as 1m30s, 10s or 300ms as ms.
const milliseconds = (span) => {
  const units = { ms: 1, s: 1000, m: 60000, h: 3600000 }
  return [...span.matchAll(/(\d+)(ms|s|m|h)/g)].reduce((sum, [, count, unit]) => sum + Number(count) * units[unit], 0)
}
const pause = milliseconds(asked.PAUSE || '') / 1000
const ca = asked.CA ? open(asked.CA) : null
const client = asked.CALL ? new grpc.Client() : null
if (client) client.load([asked.PROTO_ROOT], asked.PROTO.slice(asked.PROTO_ROOT.length).replace(/^\//, ''))
const message = asked.MESSAGE ? JSON.parse(asked.MESSAGE) : {}

// Closed loop: every virtual user keeps its connection and asks within one iteration, so that k6's own work between iterations
// stays out of the way. Open loop and stages: one request an iteration, as k6 counts and drops them.
function scenario() {
  if (asked.RATE) {
    const rate = Number(asked.RATE)
    // k6 keeps a rate for a second at least.
    const length = asked.REQUESTS ? (Number(asked.REQUESTS) / rate) * 1000 : milliseconds(asked.DURATION)
    const duration = `${Math.max(1000, Math.round(length))}ms`
    return { executor: 'constant-arrival-rate', rate, duration, preAllocatedVUs: connections, maxVUs: connections, exec: 'once' }
  }
  if (asked.STAGES) {
    const stages = asked.STAGES.split(',').map((stage) => {
      const [duration, target] = stage.split(':')
      return { duration, target: Number(target) }
    })
    return { executor: 'ramping-vus', startVUs: 0, stages, gracefulRampDown: '20s', gracefulStop: '20s', exec: 'once' }
  }
  const length = asked.REQUESTS ? `${60 + Math.ceil(Number(asked.REQUESTS) / 100)}s` : `${milliseconds(asked.DURATION) + 30000}ms`
  return { executor: 'per-vu-iterations', vus: connections, iterations: 1, maxDuration: length, exec: 'loop' }
}

export const options = {
  scenarios: { load: scenario() },
  systemTags: ['status', 'error_code'],
  summaryTrendStats: ['count'],
  maxRedirects: 0,
}

let connected = false

function ask() {
  if (!client) {
    http.request(asked.METHOD, asked.URL, body, { headers, timeout: '20s' })
    return
  }
  if (!connected) {
    client.connect(asked.ADDRESS, ca ? { tls: { cacerts: ca } } : { plaintext: true })
    connected = true
  }
  client.invoke(asked.CALL, message, { metadata: headers, timeout: '20s' })
}

export function once() {
  ask()
  if (pause > 0) sleep(pause)
}

export function loop() {
  const mine = asked.REQUESTS ? Math.ceil(Number(asked.REQUESTS) / connections) : Infinity
  const end = asked.REQUESTS ? Infinity : exec.scenario.startTime + milliseconds(asked.DURATION)
  for (let sent = 0; sent < mine && Date.now() < end; sent++) once()
}

// k6's own summary is not read.
export function handleSummary() {
  return {}
}
