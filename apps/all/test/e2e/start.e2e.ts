import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ownPlatform, printedKey } from '../own-platform.js';

const MESSAGES = [{ role: 'user', content: 'hi' }];

describe('the first start', () => {
  it('prints a key that works and has 10 USD; later starts keep everything and print no secret', async () => {
    const platform = await ownPlatform({ isFirstStart: true });
    const key = printedKey(platform);
    const first = await platform.chat(key, { model: 'test-model', messages: MESSAGES });
    expect(first.status).toBe(200);
    expect(first.headers.get('x-svc-balance-usd')).toBe('10.00');
    const { cost } = (await first.json()) as { cost: { usd: number } };
    expect(await platform.service.stop()).toBe(0);
    await platform.restart();
    expect(platform.service.output).not.toContain(key);
    expect(platform.service.output).toContain(key.slice(-6));
    const second = await platform.chat(key, { model: 'test-model', messages: MESSAGES });
    expect(Number(second.headers.get('x-svc-balance-usd'))).toBeCloseTo(10 - cost.usd, 9);
  });

  it('makes an operator token that only its owner can read', async () => {
    const platform = await ownPlatform({ env: { SVC_OPERATOR_TOKEN: '' } });
    const path = join(platform.dataDir, 'operator-token');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const headers = { authorization: `Bearer ${(await readFile(path, 'utf8')).trim()}` };
    expect((await fetch(`${platform.operatorUrl}/ledger/audit`, { headers })).status).toBe(200);
  });

  it('has the simulator answer for a catalogue that counts on it', async () => {
    const platform = await ownPlatform({
      models: [{ id: 'simulated', backends: [{ kind: 'simulator', model: 'm' }] }],
    });
    const response = await platform.chat(printedKey(platform), { model: 'simulated', messages: MESSAGES });
    expect(response.status).toBe(200);
  });
});
