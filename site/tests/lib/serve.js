// Serves a folder on 127.0.0.1, as any static host does.
import { createServer } from 'node:http';
import { readFile, stat } from 'node:fs/promises';
import { extname, join, normalize } from 'node:path';

const TYPES = {
  '.css': 'text/css', '.csv': 'text/csv', '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.json': 'application/json',
  '.png': 'image/png', '.svg': 'image/svg+xml', '.xml': 'application/atom+xml',
};

/** `{ origin, close }` of a server of the folder. */
export async function serve(folder) {
  const server = createServer(async (request, answer) => {
    const path = normalize(decodeURIComponent(new URL(request.url, 'http://localhost').pathname));
    let file = join(folder, path);
    try {
      if ((await stat(file)).isDirectory()) file = join(file, 'index.html');
      const content = await readFile(file);
      answer.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' }).end(content);
    } catch {
      answer.writeHead(404, { 'content-type': 'text/plain' }).end('not here');
    }
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const close = () => new Promise((done) => { server.close(done); server.closeAllConnections(); });
  return { origin: `http://127.0.0.1:${server.address().port}`, close };
}
