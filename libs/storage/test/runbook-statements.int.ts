import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type TestDatabase, startTestDatabase } from './testing.js';

const dir = join(import.meta.dirname, '../../../deploy/runbooks');

/** The PostgreSQL statements of the runbooks, by page. */
const statements = readdirSync(dir).flatMap((name) =>
  Array.from(
    readFileSync(join(dir, name), 'utf8').matchAll(/psql "\$DATABASE_URL" -c (["'])(.*)\1$/gm),
    ([, , statement = '']): [string, string] => [name, statement],
  ),
);

let test: TestDatabase;
let client: Client;

beforeAll(async () => {
  test = await startTestDatabase();
  client = new Client({ connectionString: test.url });
  await client.connect();
});

afterAll(async () => {
  await client.end();
  await test.stop();
});

it.each(statements)('the runbook %s queries only existing tables and columns: %s', async (_, statement) => {
  await expect(client.query(`EXPLAIN ${statement}`)).resolves.toBeDefined();
});

it('finds statements in the runbooks', () => {
  expect(statements.length).toBeGreaterThan(5);
});
