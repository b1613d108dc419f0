import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runCli } from '@svc/operator-cli';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPERATOR_TOKEN, Platform } from '../platform.js';

const HELLO = { model: 'test-model', messages: [{ role: 'user', content: 'hi' }] };

let platform: Platform;
let url: string;

beforeAll(async () => {
  platform = await Platform.start();
  url = new URL(platform.operatorUrl).origin;
});

afterAll(() => platform.stop());

interface Output {
  readonly code: number;
  readonly out: string;
  readonly errors: string;
}

async function svcctl(...args: string[]): Promise<Output> {
  const out: string[] = [];
  const errors: string[] = [];
  const code = await runCli({
    args,
    url,
    token: OPERATOR_TOKEN,
    write: (text) => out.push(text),
    warn: (text) => errors.push(text),
  });
  return { code, out: out.join('\n'), errors: errors.join('\n') };
}

const json = async (...args: string[]): Promise<Record<string, unknown>> => {
  const { code, out, errors } = await svcctl(...args, '--json');
  expect([code, errors]).toEqual([0, '']);
  return JSON.parse(out) as Record<string, unknown>;
};

describe('svcctl', () => {
  it('opens an account for a paying customer by one command, whose key works at once', async () => {
    const made = await json('customer', 'Acme', '--usd', '50.00', '--reference', '0017');
    expect(made).toMatchObject({ name: 'Acme', balance: '50.00', tier: 'standard' });
    const response = await platform.chat(String(made['apiKey']), HELLO);
    expect(response.status).toBe(200);
    await response.text();
    const [credit] = (await json('get', 'account-transfers', String(made['accountId']), '--kind', 'credit'))[
      'data'
    ] as object[];
    expect(credit).toMatchObject({ reference: '0017', amount: '50.00' });
  });

  it('shows tables, JSON and CSV', async () => {
    const { id } = await platform.account('3.50', { name: 'Shown as a table' });
    const table = await svcctl('get', 'accounts', '--search', 'Shown as', '--limit', '5');
    expect(table.out.split('\n')[0]).toMatch(/^ID +NAME .*BALANCES\.USD/);
    expect(table.out).toContain('Shown as a table');
    expect(await json('get', 'account', id)).toMatchObject({ id, balances: { usd: '3.50' } });
    const month = new Date().toISOString().slice(0, 7);
    const { out } = await svcctl('get', 'account-statement', id, month, '--csv');
    expect(out).toMatch(/^at,entry,detail,reference,currency,amount,balanceChange\n/);
  });

  it('sets and ends things, with members of every type', async () => {
    const { id } = await platform.account('1.00');
    await json('set', 'account-limits', id, '--concurrent-requests', '3', '--models', '[]');
    expect(await json('get', 'account-limits', id)).toMatchObject({ concurrentRequests: 3 });
    expect(await json('set', 'account-suspension', id, '--reason', '42')).toMatchObject({
      suspension: { reason: '42' },
    });
    expect(await json('delete', 'account-suspension', id)).toMatchObject({ state: 'active' });
  });

  it('reports refusals with their code, and wrong commands, without a stack', async () => {
    const { id } = await platform.account('1.00');
    const debit = ['create', 'account-debit', id, '--reference', 'd', '--reason', 'x'];
    const refused = await svcctl(...debit, '--usd', '2.00');
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.errors).toBe('DEBIT_TOO_LARGE: The account has 1.00 USD left. Debit at most that.');
    expect((await svcctl(...debit, '--usd', 'much')).errors).toMatch(
      /^INVALID_REQUEST: .*\n? *usd: must be/s,
    );
    expect((await svcctl(...debit)).errors).toMatch(/usd/);
    expect((await svcctl('get', 'accounts', '--limit', 'many')).errors).toBe('--limit must be a number');
    expect((await svcctl('get', 'acounts')).errors).toMatch(/accounts/);
    expect((await svcctl('get', 'account', '../../metrics')).errors).toMatch(/^INVALID_REQUEST|^NOT_FOUND/);
    const away = await svcctl('get', 'accounts', '--url', 'http://127.0.0.1:1');
    expect(away.errors).toMatch(/^http:\/\/127\.0\.0\.1:1 cannot be reached/);
  });

  it('runs as a program that needs only its address and token, and completes commands', async () => {
    const program = join(import.meta.dirname, '../../../../tools/svcctl.mjs');
    const run = async (...args: string[]): Promise<string> => {
      const env = { PATH: process.env['PATH'], OPERATOR_URL: url, SVC_OPERATOR_TOKEN: OPERATOR_TOKEN };
      const { stdout } = await promisify(execFile)(process.execPath, [program, ...args], { env });
      return stdout;
    };
    expect(JSON.parse(await run('get', 'ledger-audit', '--scope', 'new', '--json'))).toMatchObject({
      ok: true,
    });
    expect(await run('completion')).toContain('complete');
    expect((await run('--get-yargs-completions', 'svcctl', 'get', '')).split('\n')).toContain('spenders');
  });
});
