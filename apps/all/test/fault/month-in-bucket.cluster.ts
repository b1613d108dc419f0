// A month of the books is closed by the command of an operator, with its files in a bucket.
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { type LocalS3, temporaryS3 } from '@svc/infra';
import { type RunningLedger, chargeOf, startLedger, usd } from '@svc/ledger/testing';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { RunningProcess, TestServer } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const COMMAND = fileURLToPath(new URL('../../../../tools/close-month.mjs', import.meta.url));
const MONTH = '2026-03';
const FILES = ['charge_lines.csv.gz', 'charges.csv.gz', 'month.json', 'transfers.csv.gz'];
const CHARGES = 300;
/** Beside clusters that start, a command may need minutes. */
const COMMAND_MS = 240_000;
const TEST = { timeout: 300_000 };

let test: TestDatabase;
let server: LocalS3;
let running: RunningLedger;

beforeAll(async () => {
  [test, server] = await Promise.all([startTestDatabase(), temporaryS3()]);
  running = await startLedger({ url: test.url });
  const accountId = randomUUID();
  await running.books.credit({ accountId, usdNano: usd(1), reference: 'start' });
  const at = `${MONTH}-15T00:00:00.000Z`;
  await running.poster.post(
    Array.from({ length: CHARGES }, (_, nano) => chargeOf(accountId, BigInt(nano), { at })),
  );
}, 180_000);

afterAll(async () => {
  await running.stop();
  await server.stop();
  await test.stop();
});

async function closed(settings: Readonly<Record<string, string>>, ...more: string[]): Promise<string> {
  const compiled = process.env['NODE_COMPILE_CACHE'] ?? '';
  const env = { NODE_COMPILE_CACHE: compiled, DATABASE_URL: test.url, ...server.settings, ...settings };
  const command = RunningProcess.spawn({ main: COMMAND, args: [MONTH, '--to-bucket', ...more], env });
  expect(await command.ended(COMMAND_MS)).toBe(command.output.includes('is closed') ? 0 : 1);
  return command.output;
}

async function charges(): Promise<number> {
  const [row] = await running.database.query<{ count: bigint }>('SELECT count(*) FROM ledger.charges');
  return Number(row?.count);
}

const expectProved = (): Promise<void> =>
  expect(running.books.audit('whole')).resolves.toMatchObject({ ok: true, mismatches: [] });

describe('a month that is closed into a bucket', () => {
  it.each([
    ['the keys are wrong', { MEDIA_S3_SECRET_ACCESS_KEY: 'x'.repeat(40) }, 'MEDIA_S3_BUCKET cannot be used'],
    ['the bucket does not exist', { MEDIA_S3_BUCKET: 'missing' }, 'MEDIA_S3_BUCKET cannot be used'],
    ['the server does not respond', { MEDIA_S3_URL: 'http://127.0.0.1:9' }, 'ECONNREFUSED'],
    ['there are no settings of a bucket', { MEDIA_S3_URL: '' }, 'MEDIA_S3_URL is not set'],
  ])('keeps its charges if %s', TEST, async (_, settings, reason) => {
    expect(await closed(settings)).toContain(reason);
    expect(await charges()).toBe(CHARGES);
    await expectProved();
  });

  it('keeps its charges if the bucket accepts files and returns others', TEST, async () => {
    const lossy = await TestServer.start((request, response) => {
      request.resume().once('end', () => response.writeHead(200, { etag: '"tag"' }).end('other'));
    });
    expect(await closed({ MEDIA_S3_URL: lossy.url })).toContain(
      'what is read back differs. Nothing is dropped',
    );
    await lossy.close();
    expect(await charges()).toBe(CHARGES);
    await expectProved();
  });

  it('is stored there whole before its charges are dropped, after all these attempts', TEST, async () => {
    const output = await closed({});
    expect(output).toMatch(/charges\.csv: 300 rows, SHA-256 [\da-f]{64}\n/);
    expect((await server.objects()).toSorted()).toEqual(FILES);
    expect(await charges()).toBe(1);
    await expectProved();
  });
});
