import { execFile } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { type Simulator, startSimulator } from '@svc/simulator';
import { TestServer } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENCRYPTED_MODEL, enclaveAt } from '../enclaves.js';
import { Platform } from '../platform.js';
import { openEncryptionClient } from './environments.js';

const CLIENT_MS = 60_000;

const execute = promisify(execFile);
const program = await openEncryptionClient();

/** What the program prints. */
interface Outcome {
  readonly text?: string;
  readonly isPlain?: boolean;
  readonly refusal?: string;
}

describe('the unmodified npm client for encryption', () => {
  let simulator: Simulator;
  let lookalike: Simulator;
  let platform: Platform;
  let apiKey: string;

  beforeAll(async () => {
    simulator = await startSimulator();
    lookalike = await startSimulator({ teeLookalike: true });
    platform = await Platform.start({
      models: [
        { ...ENCRYPTED_MODEL, id: 'e2ee-simulated', backends: [enclaveAt(simulator.url)] },
        { ...ENCRYPTED_MODEL, id: 'e2ee-lookalike', backends: [enclaveAt(lookalike.url)] },
      ],
    });
    ({ apiKey } = await platform.account('10.00'));
  });

  afterAll(async () => {
    await platform.stop();
    await lookalike.close();
    await simulator.close();
  });

  async function outcomeOf(model: string, url = platform.rootUrl): Promise<Outcome> {
    const options = { env: { PATH: process.env['PATH'], SVC_API_KEY: apiKey }, timeout: CLIENT_MS };
    const { stdout } = await execute(process.execPath, [program, url, model], options);
    return JSON.parse(stdout) as Outcome;
  }

  it('verifies the attestation, encrypts messages of three roles, and decrypts the stream', async () => {
    const outcome = await outcomeOf('e2ee-lookalike');
    expect(outcome).toEqual({ text: 'naïve 🙂 answer of a few words', isPlain: false });
    expect(lookalike.requests().at(-1)?.body).not.toContain('terse');
  });

  it('refuses the simulator, which says that it is one', async () => {
    const { refusal } = await outcomeOf('e2ee-simulated');
    expect(refusal).toMatch(/debug|verif/i);
    expect(simulator.requests()).toEqual([]);
  });

  it('refuses a response in plaintext', async () => {
    const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      if (request.method === 'GET') {
        response.end(await (await fetch(platform.rootUrl + (request.url ?? ''))).text());
        return;
      }
      const chunk = { choices: [{ index: 0, delta: { content: 'plaintext' } }] };
      response.setHeader('content-type', 'text/event-stream');
      response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
    };
    const server = await TestServer.start((request, response) => void answer(request, response));
    const { refusal, text } = await outcomeOf('e2ee-lookalike', server.url);
    expect(text).toBeUndefined();
    expect(refusal).toBeDefined();
    await server.close();
  });
});
