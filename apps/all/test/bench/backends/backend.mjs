import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SHORT_PATH, TEXT_CHUNKS, completion, shortStream } from '../responses.mjs';
import { versionOf } from '../installed.mjs';
import { freePort } from '../processes.mjs';

const PROGRAM = new URL('./backend-program.mjs', import.meta.url);

/**
 * Starts the backend that responds at once: nginx if it is installed, else a server on Node: `{ url, name
 * }`.
 */
export async function startInstantBackend(place) {
  const nginx = versionOf('nginx', '-v');
  if (nginx === undefined) {
    const { url } = await place.startProgram('instant-backend', PROGRAM);
    return { url, name: `a node:http server on Node ${process.versions.node}` };
  }
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  writeFileSync(join(place.dir, 'nginx.conf'), nginxConfig(port));
  const args = ['-p', place.dir, '-c', 'nginx.conf', '-e', 'stderr'];
  const child = place.start('nginx', 'nginx', { args });
  await place.untilReady(child, async () => (await fetch(url, { signal: AbortSignal.timeout(1_000) })).ok);
  return { url, name: nginx.replace(/^.*version: /, '') };
}

/**
 * Starts the backend that streams chunks at a steady pace, this number or the usual: `{ url }`, and the
 * process.
 */
export function startStreamBackend(place, texts = TEXT_CHUNKS) {
  return place.startProgram('stream-backend', PROGRAM, { args: [String(texts)] });
}

/** Starts the backend whose streams stay open until it gets the message `finish`. */
export function startHoldingBackend(place, texts) {
  return place.startProgram('holding-backend', PROGRAM, { args: [String(texts), 'hold'] });
}

function nginxConfig(port) {
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${name};`,
  );
  return `
daemon off;
master_process off;
pid nginx.pid;
error_log stderr warn;
events { worker_connections 8192; }
http {
  ${folders.join(' ')}
  access_log off;
  default_type application/json;
  keepalive_requests 1000000000;
  keepalive_timeout 300s;
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / { return 200 '${completion}'; }
    location ${SHORT_PATH} { default_type text/event-stream; return 200 '${shortStream}'; }
  }
}
`;
}
