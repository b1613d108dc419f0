// The proxy with the most users, in Python. It is downloaded for the run, and not a dependency of this
// project.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BACKEND_MODEL, MODEL } from '../responses.mjs';
import { freePort } from '../processes.mjs';

/** The packages that its tests as a backend use too, each with its version. */
const REQUIREMENTS = fileURLToPath(new URL('../../servers/requirements.txt', import.meta.url));
const VERSION = /^litellm==(\S+)$/m.exec(readFileSync(REQUIREMENTS, 'utf8'))?.[1];

/** A hundred packages, 700 MB when unpacked. */
export const LITELLM_MS = 600_000;

/** It loads for ten seconds of CPU time. */
const START_MS = 120_000;

const cache = fileURLToPath(
  new URL(`../../../../../node_modules/.cache/svc-bench/litellm-${VERSION}`, import.meta.url),
);
const python = join(cache, 'bin', 'python');

/** Written once the download is complete. */
const fetched = join(cache, 'fetched');

const KEY = 'sk-key-of-the-bench';

export const liteLlmName = `LiteLLM ${VERSION}, one worker, without keys and budgets of customers`;

/**
 * What it does not do here. The wheel of Prisma's client is Python only, and the package `@prisma/engines` of
 * the version that it expects downloads the engines when it is installed.
 */
const note =
  "its keys, budgets and limits of customers need its database, which it reaches by Prisma's query engine 5.17.0; neither `prisma` on PyPI nor `@prisma/engines` on npm contains that program, so it does less here than this service";

/** Downloads it if necessary, and starts it in front of the backend: `{ child, url, headers }`. */
export async function startLiteLlm(place, { backendUrl, say }) {
  if (!existsSync(fetched)) await fetchLiteLlm(place, say);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const config = join(place.dir, 'litellm.yaml');
  // JSON is valid YAML. The limits are never reached, but counted.
  writeFileSync(
    config,
    JSON.stringify({
      model_list: [
        {
          model_name: MODEL,
          litellm_params: {
            model: `openai/${BACKEND_MODEL}`,
            api_base: `${backendUrl}/v1`,
            api_key: 'none',
            rpm: 1_000_000_000,
            tpm: 1_000_000_000_000,
          },
        },
      ],
      general_settings: { master_key: KEY },
      litellm_settings: { num_retries: 0 },
    }),
  );
  const child = place.start('litellm', python, {
    args: [
      join(cache, 'bin', 'litellm'),
      '--config',
      config,
      '--host',
      '127.0.0.1',
      '--port',
      String(port),
      '--num_workers',
      '1',
    ],
    env: { PATH: process.env.PATH, HOME: place.dir, LITELLM_LOCAL_MODEL_COST_MAP: 'True' },
  });
  const alive = `${url}/health/liveliness`;
  const isAlive = async () => (await fetch(alive, { signal: AbortSignal.timeout(1_000) })).ok;
  await place.untilReady(child, isAlive, START_MS);
  return { child, url: `${url}/v1/chat/completions`, headers: { authorization: `Bearer ${KEY}` }, note };
}

async function fetchLiteLlm(place, say) {
  say('downloading LiteLLM, which takes minutes');
  rmSync(cache, { recursive: true, force: true });
  const run = (name, command, args) =>
    place.run(name, command, { args, env: process.env, cwd: place.dir, deadlineMs: LITELLM_MS });
  await run('venv', 'python3', ['-m', 'venv', cache]);
  await run('pip', python, ['-m', 'pip', 'install', '--quiet', '--requirement', REQUIREMENTS]);
  writeFileSync(fetched, '');
}
