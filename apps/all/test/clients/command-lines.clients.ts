import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { Message } from '@svc/api/chat';
import { TestServer, strictFault } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Platform, type TestAccount } from '../platform.js';
import { type RunOptions, openCommandLines, openOpencode } from './environments.js';

const RUN_MS = 120_000;
const MODEL = 'strict-model';

const [commandLines, opencode] = await Promise.all([openCommandLines(), openOpencode()]);

let platform: Platform;
let account: TestAccount;
let home: string;
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
  home = await mkdtemp(join(tmpdir(), 'svc-agents-'));
  await mkdir(join(home, 'codex'));
  await mkdir(join(home, 'work'));
  const config = `
model = "${MODEL}"
model_provider = "svc"
web_search = "disabled"

[model_providers.svc]
name = "svc"
base_url = "${platform.apiUrl}"
env_key = "SVC_API_KEY"
wire_api = "responses"
`;
  await writeFile(join(home, 'codex', 'config.toml'), config);
  const ofOpencode = {
    provider: {
      svc: {
        npm: '@ai-sdk/openai-compatible',
        options: { baseURL: platform.apiUrl, apiKey: '{env:SVC_API_KEY}' },
        models: { [MODEL]: {} },
      },
    },
  };
  await writeFile(join(home, 'work', 'opencode.json'), JSON.stringify(ofOpencode));
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
  await writeFile(join(home, 'continue.yaml'), continued);
});
afterAll(async () => {
  await platform?.stop();
  await strict?.close();
  await rm(home, { recursive: true, force: true });
});

const optionsWith = (env: Readonly<Record<string, string>>): RunOptions => ({
  cwd: join(home, 'work'),
  env: { HOME: home, ...env },
  deadlineMs: RUN_MS,
});

const run = (program: string, args: readonly string[], env: Readonly<Record<string, string>>) =>
  commandLines.run(program, args, optionsWith(env));

/** The bodies of the requests that the model server has got since the earlier ones, as text. */
const sentSince = (earlier: number): string =>
  platform.simulator
    .requests()
    .slice(earlier)
    .map(({ body }) => body)
    .join('\n');

const codex = (task: string) =>
  run('codex', ['exec', '--skip-git-repo-check', '--sandbox', 'read-only', task], {
    CODEX_HOME: join(home, 'codex'),
    SVC_API_KEY: account.apiKey,
  });

describe('unmodified coding agents', () => {
  it.skipIf(!opencode)(
    'opencode completes a task by POST /chat/completions',
    async () => {
      const task = 'Repeat: a short poem [[sim echo=true]]';
      const options = optionsWith({
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
      const args = ['--config', join(home, 'continue.yaml'), '-p', 'Repeat: a short poem [[sim echo=true]]'];
      const { stdout, code } = await run('cn', args, {
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
      const { stdout, code } = await codex('Repeat: a short poem [[sim echo=true]]');
      expect([code, stdout]).toEqual([0, stdout]);
      expect(stdout).toContain('a short poem');
    },
    RUN_MS,
  );

  it(
    'Codex CLI runs a tool that the model calls, and returns its output',
    async () => {
      const earlier = platform.simulator.requests().length;
      const { stdout, code } = await codex('What is the goal? [[sim tool=get_goal]]');
      expect([code, stdout]).toEqual([0, stdout]);
      expect(sentSince(earlier)).toMatch(/"role":"tool"/);
    },
    RUN_MS,
  );

  it(
    'Claude Code completes a task by POST /messages, and runs the tools that the model calls',
    async () => {
      const earlier = platform.simulator.requests().length;
      const { stdout, code } = await run('claude', ['-p', 'Say hello', '--model', MODEL], {
        ANTHROPIC_BASE_URL: `${platform.rootUrl}/api`,
        ANTHROPIC_API_KEY: account.apiKey,
        CLAUDE_CONFIG_DIR: join(home, 'claude'),
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
      });
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
