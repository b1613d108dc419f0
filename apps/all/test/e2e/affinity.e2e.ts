import { type Simulator, startSimulator } from '@svc/simulator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Platform } from '../platform.js';
import { eventually } from '../response-bodies.js';

const NAMES = ['one', 'two', 'three'];
const LONG = 'You answer questions about one of many documents. '.repeat(100);

let backend: Simulator;
let platform: Platform;
let apiKey: string;

beforeAll(async () => {
  backend = await startSimulator();
  platform = await Platform.start({
    models: [
      {
        id: 'spread',
        backends: NAMES.map((name) => ({ name, url: `${backend.url}/v1`, model: `sim-${name}` })),
      },
    ],
  });
  ({ apiKey } = await platform.account('100.00'));
});

afterAll(async () => {
  await platform.stop();
  await backend.close();
});

/** The name of the backend that responds to a request. */
async function backendOf(
  path: string,
  members: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<string | null> {
  const response = await fetch(`${platform.apiUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'spread', ...members }),
  });
  await response.text();
  expect(response.status).toBe(200);
  return response.headers.get('x-svc-model-router');
}

const DIALECTS: readonly (readonly [path: string, membersOf: (text: string) => object])[] = [
  ['/chat/completions', (text) => ({ messages: [{ role: 'user', content: text }] })],
  ['/responses', (text) => ({ input: text })],
  ['/messages', (text) => ({ max_tokens: 20, messages: [{ role: 'user', content: text }] })],
  ['/completions', (text) => ({ prompt: text })],
];

describe.each(DIALECTS)('POST %s', (path, membersOf) => {
  it.each<[string, (session: string) => { members?: object; headers?: Record<string, string> }]>([
    ['session_id', (session) => ({ members: { session_id: session } })],
    ['x-session-id', (session) => ({ headers: { 'x-session-id': session } })],
    ['x-session-affinity', (session) => ({ headers: { 'x-session-affinity': session } })],
  ])('goes to one backend for one session in %s, and to several for several', async (_, given) => {
    const backends = new Set<string | null>();
    for (let session = 0; session < 12; session += 1) {
      const { members = {}, headers = {} } = given(`session ${session}`);
      const first = await backendOf(path, { ...membersOf('one question'), ...members }, headers);
      expect(await backendOf(path, { ...membersOf('another question'), ...members }, headers)).toBe(first);
      backends.add(first);
    }
    expect(backends.size).toBeGreaterThan(1);
    for (const name of backends) expect(NAMES).toContain(name);
  });
});

const Rows = z.array(z.object({ model: z.string(), name: z.string(), hitShare: z.number().nullable() }));

describe('conversations without a session', () => {
  it('stay at the backend that has their beginning in its cache, which operators see', async () => {
    const system = { role: 'system', content: LONG };
    const messages: object[] = [system, { role: 'user', content: 'The first question' }];
    const first = await backendOf('/chat/completions', { messages });
    for (let turn = 2; turn < 8; turn += 1) {
      messages.push(
        { role: 'assistant', content: 'An answer' },
        { role: 'user', content: `Question ${turn}` },
      );
      expect(await backendOf('/chat/completions', { messages, stream: turn % 2 === 0 })).toBe(first);
    }
    await eventually('the share of cached tokens is known', async () => {
      const { body } = await platform.operator('GET', '/backends');
      const rows = Rows.parse(body['data']).filter(({ model, name }) => model === 'spread' && name === first);
      return rows.some(({ hitShare }) => (hitShare ?? 0) > 0.5);
    });
  });
});
