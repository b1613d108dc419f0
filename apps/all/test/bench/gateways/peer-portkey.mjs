// The best-known gateway on the same runtime. It is downloaded for the run, and not a dependency of this
// project.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../processes.mjs';

const NAME = '@portkey-ai/gateway';
const VERSION = '1.15.2';
const FETCH_MS = { usual: 60_000, quick: 20_000 };

const cache = fileURLToPath(
  new URL(`../../../../../node_modules/.cache/svc-bench/portkey-${VERSION}`, import.meta.url),
);
const program = join(cache, 'node_modules', NAME, 'build', 'start-server.js');

/** Written once the download is complete. */
const fetched = join(cache, 'fetched');

export const portkeyName = `${NAME} ${VERSION}`;

/** Downloads the peer if necessary, and starts it in front of the backend: `{ child, url, headers }`. */
export async function startPortkey(place, { backendUrl, quick }) {
  if (!existsSync(fetched)) {
    await fetchPortkey(place, quick ? FETCH_MS.quick : FETCH_MS.usual).catch((error) => {
      const code = /^npm error code (\S+)$/m.exec(String(error.cause))?.[1];
      throw new Error(`could not be fetched: ${code ?? error.message}`, { cause: error });
    });
  }
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = place.start('portkey', process.execPath, {
    args: [program, `--port=${port}`, '--headless'],
    env: { ...process.env, NODE_ENV: 'production' },
  });
  await place.untilReady(child, async () => (await fetch(url, { signal: AbortSignal.timeout(1_000) })).ok);
  const headers = {
    authorization: 'Bearer bench',
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': `${backendUrl}/v1`,
  };
  return { child, url: `${url}/v1/chat/completions`, headers };
}

async function fetchPortkey(place, deadlineMs) {
  mkdirSync(cache, { recursive: true });
  // Its scripts are not run, because the published build needs none.
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock', '--fetch-retries=1'];
  // The npm that started this run, with the same Node.
  const npm = process.env.npm_execpath;
  const args = ['install', '--prefix', cache, ...options, `${NAME}@${VERSION}`];
  await place.run('npm', npm ? process.execPath : 'npm', {
    args: npm ? [npm, ...args] : args,
    env: { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}` },
    cwd: cache,
    deadlineMs,
  });
  writeFileSync(fetched, '');
}
