// The gateways of a run, in the order of their turns. One that does not start is omitted.
import { resolve } from 'node:path';
import { isTheResponse, question } from '../responses.mjs';
import { startOurs } from './ours.mjs';
import { liteLlmName, startLiteLlm } from './peer-litellm.mjs';
import { portkeyName, startPortkey } from './peer-portkey.mjs';

const PROGRAM = new URL('./bare-proxy-program.mjs', import.meta.url);
export const BARE = 'bare Fastify + undici proxy';
/** Another checkout of this service. */
export const BESIDE = 'this service, beside';
const ANSWER_MS = 60_000;

/**
 * Starts the gateways and checks each with one request. One that fails is returned with its problem:
 * `{ name, child, url, headers, body, streamUrl?, operator? }`, or `{ name, problem, isOptional }`.
 */
export async function startGateways(place, { instantUrl, streamUrl, options, say }) {
  const starts = [
    {
      name: 'this service',
      start: () => startOurs(place, { instantUrl, streamUrl, profile: options.profile }),
    },
    { name: BARE, start: () => startBare(place, instantUrl) },
    {
      name: portkeyName,
      isOptional: true,
      start: () => startPortkey(place, { backendUrl: instantUrl, quick: options.quick }),
    },
    ...(options.beside
      ? [
          {
            name: BESIDE,
            start: () => startBeside(place, options.beside, { instantUrl, streamUrl }),
          },
        ]
      : []),
    ...(options.peers === 'all'
      ? [
          {
            name: liteLlmName,
            isOptional: true,
            start: () => startLiteLlm(place, { backendUrl: instantUrl, say }),
          },
        ]
      : []),
  ];
  const gateways = [];
  for (const { name, isOptional, start } of starts) {
    say(`starting ${name}`);
    try {
      const gateway = ready(place, await start());
      await prove(gateway);
      gateways.push({ name, ...gateway });
    } catch (error) {
      gateways.push({ name, isOptional, problem: `left out: ${error.message}` });
    }
  }
  return gateways;
}

/**
 * The gateways for streams: this service, if it runs, a bare proxy in front of the streaming backend, and
 * another checkout.
 */
export async function startStreamGateways(place, { ours, beside, streamUrl }) {
  const bare = ready(place, await startBare(place, streamUrl, 'bare-stream-proxy'));
  return [...(ours ? [ours] : []), { name: BARE, ...bare }, ...(beside ? [beside] : [])];
}

/** Another checkout of this service. Its charges are not checked. */
async function startBeside(place, folder, urls) {
  const { operator: _operator, ...gateway } = await startOurs(place, { ...urls, checkout: resolve(folder) });
  return gateway;
}

async function startBare(place, backendUrl, name = 'bare-proxy') {
  const child = await place.startProgram(name, PROGRAM, { args: [backendUrl] });
  return { child, url: `${child.url}/v1/chat/completions`, headers: {} };
}

/** Binds a gateway to its core, and sets its request. */
export function ready(place, gateway) {
  place.measure(gateway.child);
  return { ...gateway, body: question, headers: { 'content-type': 'application/json', ...gateway.headers } };
}

/** Sends one request, and checks that the backend's response is returned. */
export async function prove({ url, headers, body }) {
  const response = await fetch(url, {
    method: 'POST',
    headers,
    body,
    signal: AbortSignal.timeout(ANSWER_MS),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`answered ${response.status} ${text.slice(0, 300)}`);
  if (!isTheResponse(text)) throw new Error(`answered something else: ${text.slice(0, 300)}`);
}
