import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { Message } from '@svc/api/chat';
import { TestServer, strictFault } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Platform, type TestAccount } from '../platform.js';
import { CodingAgents, RUN_MS } from './coding-agents.js';
import { openCommandLines, openOpencode } from './environments.js';

const MODEL = 'strict-model';

const [commandLines, opencode] = await Promise.all([openCommandLines(), openOpencode()]);

let platform: Platform;
let account: TestAccount;
let agents: CodingAgents;
let strict: TestServer;
/** Why the server with the strict template refused requests. */
const faults: string[] = [];

/** A model server whose chat template refuses what many refuse, in front of the simulator. */
async function startStrictServer(target: () => string): Promise<TestServer> {
  return TestServer.start((request, response) => {
    void buffer(request).then(async (body) => {
      const { messages } = JSON.parse(body.toString()) as { messages: readonly Message[] };
      const fault = strictFault(messages);
      if (fault !== undefined) {
        faults.push(fault);
        response.writeHead(400).end(JSON.stringify({ error: { message: fault } }));
        return;
      }
      const headers = { 'content-type': 'application/json' };
      const reply = await fetch(target() + String(request.url), { method: 'POST', headers, body });
      response.writeHead(reply.status, { 'content-type': reply.headers.get('content-type') ?? '' });
      for await (const bytes of reply.body ?? []) response.write(bytes);
      response.end();
    });
  });
}

beforeAll(async () => {
  strict = await startStrictServer(() => platform.simulator.url);
  const backends = [{ url: `${strict.url}/v1`, model: 'test-model' }];
  platform = await Platform.start({ models: [{ id: MODEL, backends }] });
  account = await platform.account('10.00');
  agents = await CodingAgents.open(commandLines, platform, account);
  const ofOpencode = {
    provider: {
      svc: {
        npm: '@ai-sdk/openai-compatible',
        options: { baseURL: platform.apiUrl, apiKey: '{env:SVC_API_KEY}' },
        models: { [MODEL]: {} },
      },
    },
  };
  await writeFile(join(agents.home, 'work', 'opencode.json'), JSON.stringify(ofOpencode));
  const continued = `
name: svc
version: 1.0.0
schema: v1
models:
  - name: svc
    provider: openai
    model: ${MODEL}
    apiBase: ${platform.apiUrl}
    apiKey: \${{ secrets.SVC_API_KEY }}
`;
  await writeFile(join(agents.home, 'continue.yaml'), continued);
});
afterAll(async () => {
  await platform?.stop();
  await strict?.close();
  await agents?.close();
});

/** The bodies of the requests that the model server has got since the earlier ones, as text. */
const sentSince = (earlier: number): string =>
  platform.simulator
    .requests()
    .slice(earlier)
    .map(({ body }) => body)
    .join('\n');

describe('unmodified coding agents', () => {
  it.skipIf(!opencode)(
    'opencode completes a task by POST /chat/completions',
    async () => {
      const task = 'Repeat: a short poem [[sim echo=true]]';
      const options = agents.optionsWith({
        SVC_API_KEY: account.apiKey,
        OPENCODE_DISABLE_AUTOUPDATE: '1',
        OPENCODE_DISABLE_MODELS_FETCH: '1',
      });
      const output = await opencode?.run('opencode', ['run', '--model', `svc/${MODEL}`, task], options);
      expect(output).toMatchObject({ code: 0, stdout: expect.stringContaining('a short poem') as string });
    },
    RUN_MS,
  );

  it(
    'Continue completes a task by POST /chat/completions',
    async () => {
      const args = [
        '--config',
        join(agents.home, 'continue.yaml'),
        '-p',
        'Repeat: a short poem [[sim echo=true]]',
      ];
      const { stdout, code } = await agents.run('cn', args, {
        SVC_API_KEY: account.apiKey,
        CONTINUE_TELEMETRY_ENABLED: '0',
      });
      expect([code, stdout]).toEqual([0, stdout]);
      expect(stdout).toContain('a short poem');
    },
    RUN_MS,
  );
});

describe('unmodified coding agents on a model with a strict chat template', () => {
  it(
    'Codex CLI completes a task by POST /responses',
    async () => {
      const { stdout, code } = await agents.codex(MODEL, 'Repeat: a short poem [[sim echo=true]]');
      expect([code, stdout]).toEqual([0, stdout]);
      expect(stdout).toContain('a short poem');
    },
    RUN_MS,
  );

  it(
    'Codex CLI runs a tool that the model calls, and returns its output',
    async () => {
      const earlier = platform.simulator.requests().length;
      const { stdout, code } = await agents.codex(MODEL, 'What is the goal? [[sim tool=get_goal]]');
      expect([code, stdout]).toEqual([0, stdout]);
      expect(sentSince(earlier)).toMatch(/"role":"tool"/);
    },
    RUN_MS,
  );

  it(
    'Claude Code completes a task by POST /messages, and runs the tools that the model calls',
    async () => {
      const earlier = platform.simulator.requests().length;
      const { stdout, code } = await agents.claude(MODEL, 'Say hello');
      expect([code, stdout]).toEqual([0, stdout]);
      expect(stdout).toMatch(/\S/);
      expect(sentSince(earlier)).toMatch(/"role":"tool"/);
    },
    RUN_MS,
  );

  it('send nothing that the template refuses', () => {
    expect(faults).toEqual([]);
  });

  it('are charged for their requests', async () => {
    await expect.poll(async () => Number((await platform.balances(account.id)).usd)).toBeLessThan(10);
    expect((await platform.audit()).body).toMatchObject({ ok: true });
  });
});
