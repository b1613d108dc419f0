import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestServer } from '@svc/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Platform } from '../platform.js';

/** The folder is polled every 2 s; a busy machine takes longer. */
const SOON = { timeout: 30_000, interval: 500 };

const COMPLETION = {
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
};

let accepted = 'sk-first-0123456789';
let folder: string;
let server: TestServer;
let platform: Platform;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-secrets-'));
  await writeFile(join(folder, 'HOSTED_KEY'), `${accepted}\n`);
  server = await TestServer.start((request, response) => {
    request.resume();
    const given = request.headers.authorization?.replace('Bearer ', '');
    response.setHeader('content-type', 'application/json');
    if (given === accepted) response.end(JSON.stringify(COMPLETION));
    else response.writeHead(401).end(JSON.stringify({ error: { message: `Incorrect API key: ${given}` } }));
  });
  platform = await Platform.start({
    hasOwnProcess: true,
    env: { ROUTER_SECRETS_DIR: folder },
    models: [
      { id: 'hosted', backends: [{ url: `${server.url}/v1`, model: 'hosted', apiKeyEnv: 'HOSTED_KEY' }] },
    ],
  });
});

afterAll(async () => {
  await platform?.stop();
  await server?.close();
  await rm(folder, { recursive: true, force: true });
});

it('takes the key of a backend from a file, and a new one without a restart', async () => {
  const { apiKey } = await platform.account('10.00');
  const ask = async (): Promise<[number, string]> => {
    const messages = [{ role: 'user', content: 'Hi' }];
    const response = await platform.chat(apiKey, { model: 'hosted', messages });
    return [response.status, await response.text()];
  };
  expect((await ask())[0]).toBe(200);
  accepted = 'sk-other-9876543210';
  const [status, text] = await ask();
  expect(status).toBe(500);
  expect(text).not.toMatch(/sk-|0123456789/);
  await writeFile(join(folder, 'HOSTED_KEY'), accepted);
  await expect.poll(async () => (await ask())[0], SOON).toBe(200);
  expect(platform.service.output).not.toMatch(/sk-first|sk-other|0123456789|9876543210/);
});
