import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { repeats } from '@svc/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { ApiErrorBody } from '../response-bodies.js';
import { Random } from '../random.js';
import { type Description, type ExtremeRequest, ExtremeRequests } from './extreme-requests.js';
import { HostileHarness } from './harness.js';

const REQUESTS = repeats('EXTREMES');
const SEED = Number(process.env['SEED'] ?? randomInt(2 ** 31));
const AT_ONCE = 8;
const MODEL = 'able';
const ATTEMPTS = 5;

let harness: HostileHarness;
let adminKey: string;

beforeAll(async () => {
  harness = await HostileHarness.start();
  adminKey = await openAdmin();
});

afterAll(async () => {
  await harness.stop();
});

/** The ADMIN key of an account whose charges are not checked. */
async function openAdmin(): Promise<string> {
  const { body } = await harness.platform.operator('POST', '/accounts', { name: 'extremes' });
  const terms = { apiKeyType: 'ADMIN', description: 'extremes' };
  const key = await harness.platform.operator('POST', `/accounts/${String(body['id'])}/api_keys`, terms);
  return String(key.body['apiKey']);
}

/** An overloaded service refuses some requests; a bug makes the same request fail every time. */
async function sendUntilTaken(request: ExtremeRequest): Promise<Answered> {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await send(request);
    if (answer.status !== 503 || attempt === ATTEMPTS) return answer;
    await sleep(1_000);
  }
}

interface Answered {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

/** Completions use the model that exists; the cost of each is recorded. */
async function send({ method, path, body, beyond }: ExtremeRequest): Promise<Answered> {
  if (path === '/chat/completions') {
    const isNamed = beyond.includes('body.model');
    const request = (isNamed ? body : body?.replace(/"model":"[^"]*"/, `"model":"${MODEL}"`)) ?? '';
    const { status, headers, text, cut } = await harness.ask(request);
    return { status, type: headers.get('content-type') ?? '', text: cut ? 'cut' : text };
  }
  const response = await fetch(harness.platform.apiUrl + path, {
    method,
    ...(body !== undefined && { body }),
    headers: {
      authorization: `Bearer ${adminKey}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    signal: AbortSignal.timeout(60_000),
  });
  return {
    status: response.status,
    type: response.headers.get('content-type') ?? '',
    text: await response.text(),
  };
}

function faultOf(request: ExtremeRequest, { status, type, text }: Answered): string | undefined {
  if (text === 'cut') return 'the connection was cut';
  // Features that this deployment does not offer; the rest of the request was not validated.
  if (status === 503 && text.startsWith('{"error":"X402_NOT_CONFIGURED"')) return undefined;
  if (status >= 500) return 'a request is not what makes a service fail';
  if (!request.statuses.includes(String(status))) return 'the status is not described';
  if (status < 400) return request.beyond.length > 0 ? 'a value past its bound was taken' : undefined;
  if (!type.startsWith('application/json')) return `an error of type ${type}`;
  const { error, code } = JSON.parse(text) as ApiErrorBody;
  // Clients of the Messages API get its own errors, with our code among the details.
  const own = (error as { readonly details?: { readonly error_code?: string } }).details?.error_code;
  const isOurs = request.path.startsWith('/messages')
    ? own !== undefined
    : error.code !== undefined && code !== undefined;
  return isOurs && error.message !== '' ? undefined : 'an error of another shape';
}

const descriptionOf = (request: ExtremeRequest, { status, text }: Answered, fault: string): string =>
  `${fault}: ${request.method} ${request.path.slice(0, 80)} ${request.body?.slice(0, 80) ?? ''} (past: ${request.beyond.join()}) is answered ${status} ${text.slice(0, 300)}`;

it(
  `answers ${REQUESTS} requests at the bounds of their schemas as described, and refuses values beyond a bound (SEED=${SEED})`,
  { timeout: 60_000 + REQUESTS * 200 },
  async () => {
    const description = parse(
      await (await fetch(`${harness.platform.apiUrl}/openapi.yaml`)).text(),
    ) as Description;
    const requests = new ExtremeRequests(description, new Random(SEED));
    const faults: string[] = [];
    const statuses: Record<number, number> = {};
    let left = REQUESTS;
    const work = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        const request = requests.next();
        const answer = await sendUntilTaken(request);
        statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
        const fault = faultOf(request, answer);
        if (fault !== undefined) faults.push(descriptionOf(request, answer, fault));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    process.stderr.write(`extremes: seed ${SEED}, statuses ${JSON.stringify(statuses)}\n`);
    expect(faults.slice(0, 10)).toEqual([]);
    expect(statuses[200]).toBeGreaterThan(REQUESTS / 20);
    expect(statuses[400]).toBeGreaterThan(REQUESTS / 20);
    expect(await harness.afterwards()).toEqual([]);
  },
);
