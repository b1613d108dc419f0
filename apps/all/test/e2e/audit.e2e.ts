import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPERATOR_TOKEN, Platform } from '../platform.js';

let platform: Platform;

beforeAll(async () => {
  // The process's own audits would run before those of these tests.
  platform = await Platform.start({ env: { LEDGER_AUDIT: 'off' } });
});

afterAll(() => platform.stop());

const audit = (query = '') => platform.operator('GET', `/ledger/audit${query}`);

async function ask(count: number): Promise<void> {
  const { openai } = await platform.account('5.00');
  for (let sent = 0; sent < count; sent += 1)
    await openai.chat.completions.create({
      model: 'test-model',
      messages: [{ role: 'user', content: 'hi' }],
    });
}

describe('200', () => {
  it('proves the whole book by default, and only new entries with scope=new', async () => {
    await ask(2);
    const whole = await audit();
    expect(whole.status).toBe(200);
    expect(whole.body).toMatchObject({
      ok: true,
      scope: 'whole',
      since: null,
      charges: 2,
      imbalanceUsd: '0.00',
      imbalanceDiem: '0.00',
      mismatches: [],
    });
    await ask(1);
    const recent = await audit('?scope=new');
    expect(recent.body).toMatchObject({ ok: true, scope: 'new', transfers: 2, charges: 1, mismatches: [] });
    expect(Date.parse(String(recent.body['since']))).toBeLessThanOrEqual(Date.now());
    expect((await audit('?scope=whole')).body).toMatchObject({ ok: true, scope: 'whole', charges: 3 });
  });

  it('continues from the last audit after a restart', async () => {
    await audit();
    await platform.service.stop();
    await platform.restart();
    await ask(1);
    expect((await audit('?scope=new')).body).toMatchObject({ ok: true, scope: 'new', charges: 1 });
  });
});

describe('400', () => {
  it('rejects an unknown scope', async () => {
    const { status, body } = await audit('?scope=old');
    expect([status, body['code']]).toEqual([400, 'INVALID_REQUEST']);
    expect(body['error']).toMatchObject({ param: 'scope' });
  });
});

describe('401', () => {
  it('rejects everyone but the operator', async () => {
    const response = await fetch(`${platform.operatorUrl}/ledger/audit`, {
      headers: { authorization: `Bearer ${OPERATOR_TOKEN}x` },
    });
    expect(response.status).toBe(401);
  });
});
