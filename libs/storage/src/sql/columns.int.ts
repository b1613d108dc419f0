import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TestDatabase, startTestDatabase } from '../../test/testing.js';
import { int8Column, textColumn, timeColumn } from './columns.js';
import { createPool } from './pool.js';

let database: TestDatabase;
let pool: ReturnType<typeof createPool>;
beforeAll(async () => {
  database = await startTestDatabase();
  pool = createPool(database.url, { name: 'columns.int', max: 1 });
});
afterAll(async () => {
  await pool.end();
  await database.stop();
});

const own = <Value>(value: Value): Value => value;

async function read(type: string, column: Buffer): Promise<unknown> {
  const { rows } = await pool.query<{ values: unknown }>(`SELECT $1::${type}[] AS values`, [column]);
  return rows[0]?.values;
}

describe('a column', () => {
  it.each([
    ['no text', []],
    ['texts of any characters', ['', 'plain', 'ä€🙂', '"{},\\', 'null', '\n']],
    ['texts and nulls', [null, 'a', null]],
    ['long texts', ['ä'.repeat(300_000), 'b'.repeat(2_000_000), 'c']],
    ['many texts', Array.from({ length: 50_000 }, (_, index) => `text ${index}`)],
  ])('has %s as PostgreSQL reads them', async (_what, texts) => {
    expect(await read('text', textColumn<string | null>(texts, own))).toEqual(texts);
  });

  it('has every number of 64 bits', async () => {
    const least = -(2n ** 63n);
    const numbers = [0, 1, -1, 2 ** 31, -(2 ** 31), 2 ** 32, -(2 ** 32) - 1, 2 ** 53 - 1, 1 - 2 ** 53, null];
    const wide = [0n, 1n, -1n, 2n ** 32n, 2n ** 63n - 1n, least];
    expect(await read('int8', int8Column<number | bigint | null>([...numbers, ...wide], own))).toEqual([
      ...numbers.map((number) => (number === null ? null : BigInt(number))),
      ...wide,
    ]);
  });

  it.each([2n ** 63n, -(2n ** 63n) - 1n, 0.5, Number.NaN, 2 ** 53])('rejects %s as a number', (number) => {
    expect(() => int8Column<number | bigint>([number], own)).toThrow(RangeError);
  });

  it('has times to the millisecond, on both sides of the year 2000', async () => {
    const times = ['1999-12-31T23:59:59.999Z', '2026-11-29T15:00:00.123Z', '2099-12-31T23:59:59.001Z'];
    const { rows } = await pool.query<{ times: Date[] }>('SELECT $1::timestamptz[] AS times', [
      timeColumn(times, own),
    ]);
    expect(rows[0]?.times.map((time) => time.toISOString())).toEqual(times);
  });
});
