import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Simulator, startSimulator } from '@svc/simulator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENCRYPTED_MODEL, enclaveAt } from '../enclaves.js';
import { Platform } from '../platform.js';

const EXAMPLE = fileURLToPath(new URL('../../../../docs/e2ee-client.mjs', import.meta.url));
const PROMPT = 'Say exactly "naïve 🙂 answer"';

const execute = promisify(execFile);

describe('the documented client for encryption', () => {
  let enclave: Simulator;
  let platform: Platform;
  let apiKey: string;

  beforeAll(async () => {
    enclave = await startSimulator();
    platform = await Platform.start({
      models: [{ ...ENCRYPTED_MODEL, backends: [enclaveAt(enclave.url)] }],
    });
    ({ apiKey } = await platform.account());
  });

  afterAll(async () => {
    await platform.stop();
    await enclave.close();
  });

  const run = (...args: string[]): Promise<{ stdout: string; stderr: string }> =>
    execute(process.execPath, [EXAMPLE, ...args], {
      env: { SVC_URL: platform.apiUrl, SVC_API_KEY: apiKey },
    });

  it('has at most 120 lines and imports nothing but node:crypto', async () => {
    const text = await readFile(EXAMPLE, 'utf8');
    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(120);
    expect([...text.matchAll(/\bfrom '([^']+)'/g)].map(([, name]) => name)).toEqual(['node:crypto']);
  });

  it('refuses a simulated enclave, and sends it nothing', async () => {
    await expect(run(ENCRYPTED_MODEL.id, PROMPT)).rejects.toThrow(/simulated or in debug mode/);
    expect(enclave.requests()).toEqual([]);
  });

  it('has an encrypted chat with one if told to accept it', async () => {
    const { stdout } = await run('--accept-simulated', ENCRYPTED_MODEL.id, PROMPT);
    expect(stdout).toBe('naïve 🙂 answer\n');
    expect(enclave.requests().at(-1)?.body).not.toContain('naïve');
  });

  it('shows why the service refuses', async () => {
    await expect(run('--accept-simulated', 'no-such-model', PROMPT)).rejects.toThrow(/model not found/);
  });
});
