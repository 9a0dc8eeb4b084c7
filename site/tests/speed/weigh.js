// Serves a folder gzipped, as static hosts do, and counts what goes over the wire. Files are compressed once, before they are asked for.
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { createReadStream } from 'node:fs';
import { extname, join, normalize } from 'node:path';
import { gzipSync } from 'node:zlib';

const TYPES = { '.css': 'text/css', '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.json': 'application/json', '.svg': 'image/svg+xml' };
/** A text longer than this is sent as it is. */
const LARGE = 64 * 2 ** 20;

export async function weigh(folder, names, more = {}) {
  const kept = new Map();
  for (const name of names) {
    const content = await readFile(join(folder, name));
    if (content.length < LARGE) kept.set(name, gzipSync(content));
  }
  let sum = 0;
  const server = createServer((request, answer) => {
    const name = normalize(decodeURIComponent(new URL(request.url, 'http://localhost').pathname)).slice(1) || 'index.html';
    const type = TYPES[extname(name)] ?? 'application/octet-stream';
    const content = kept.get(name);
    if (content) {
      sum += content.length;
      answer.writeHead(200, { 'content-type': type, 'content-encoding': 'gzip' }).end(content);
    } else if (names.includes(name)) {
      answer.writeHead(200, { 'content-type': type });
      createReadStream(join(folder, name)).pipe(answer);
    } else answer.writeHead(404).end();
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return {
    origin: `http://127.0.0.1:${server.address().port}`, bytes: () => sum, reset: () => { sum = 0; },
    close: () => new Promise((done) => { server.close(done); server.closeAllConnections(); }), ...more,
  };
}
