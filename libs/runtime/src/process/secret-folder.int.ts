import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import { type Logger, createLogger } from '../logging/logging.js';
import { type Secrets, openSecrets } from './secret-folder.js';

/** The folder is polled every 2 s; a busy machine takes longer. */
const SOON = { timeout: 30_000 };
const TEST = { timeout: 60_000 };

let folder: string;
let lines: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-secrets-'));
  lines = [];
});
afterEach(() => rm(folder, { recursive: true }));

async function opened(env = {}): Promise<Secrets> {
  const logger = createLogger('silent');
  const record = (fields: object, message: string): void =>
    void lines.push(`${JSON.stringify(fields)} ${message}`);
  logger.error = record as unknown as Logger['error'];
  logger.info = record as unknown as Logger['info'];
  return openSecrets(folder, { env, logger, undo: (undo) => onTestFinished(undo) });
}

it('returns what a file holds, before a variable of the same name', async () => {
  await writeFile(join(folder, 'KEY'), 'from-the-file\n');
  const secret = await opened({ KEY: 'from-the-environment', OTHER: 'of the environment' });
  expect([secret('KEY'), secret('OTHER'), secret('NONE')]).toEqual([
    'from-the-file',
    'of the environment',
    undefined,
  ]);
});

it('reads files that change or appear again, and logs no value', TEST, async () => {
  await writeFile(join(folder, 'KEY'), 'first-value');
  const secret = await opened();
  await writeFile(join(folder, 'KEY'), 'other-value');
  await writeFile(join(folder, 'NEW'), 'new-value');
  await expect.poll(() => [secret('KEY'), secret('NEW')], SOON).toEqual(['other-value', 'new-value']);
  expect(lines).toEqual(['{"secret":"KEY"} a secret has been read again']);
});

it(
  'follows a mounted Secret, whose files are links to a version that is replaced as a whole',
  TEST,
  async () => {
    for (const [version, value] of [
      ['..1', 'one'],
      ['..2', 'two'],
    ] as const) {
      await mkdir(join(folder, version));
      await writeFile(join(folder, version, 'KEY'), value);
    }
    await symlink('..1', join(folder, '..data'));
    await symlink('..data/KEY', join(folder, 'KEY'));
    const secret = await opened();
    expect(secret('KEY')).toBe('one');
    await symlink('..2', join(folder, '..next'));
    await rename(join(folder, '..next'), join(folder, '..data'));
    await expect.poll(() => secret('KEY'), SOON).toBe('two');
  },
);

it(
  'keeps the last value of a file that vanishes, is emptied or is too large, and says so once',
  TEST,
  async () => {
    for (const name of ['GONE', 'EMPTY', 'LARGE']) await writeFile(join(folder, name), `secret of ${name}`);
    const secret = await opened();
    await rm(join(folder, 'GONE'));
    await writeFile(join(folder, 'EMPTY'), '\n');
    await writeFile(join(folder, 'LARGE'), 'x'.repeat(65_537));
    await expect.poll(() => lines.length, SOON).toBe(3);
    await expect.poll(() => readdir(folder), SOON).toEqual(['EMPTY', 'LARGE']);
    expect(['GONE', 'EMPTY', 'LARGE'].map(secret)).toEqual([
      'secret of GONE',
      'secret of EMPTY',
      'secret of LARGE',
    ]);
    expect(lines.join('\n')).not.toContain('secret of');
  },
);

it('does not wait for a pipe, nor take a folder for a secret', async () => {
  execFileSync('mkfifo', [join(folder, 'PIPE')]);
  await mkdir(join(folder, 'FOLDER'));
  await writeFile(join(folder, 'KEY'), 'value');
  const secret = await opened();
  expect(['PIPE', 'FOLDER', 'KEY'].map(secret)).toEqual([undefined, undefined, 'value']);
});

it('starts without the folder, and reads it once it exists', TEST, async () => {
  await rm(folder, { recursive: true });
  const secret = await opened({ KEY: 'of the environment' });
  expect(secret('KEY')).toBe('of the environment');
  await mkdir(folder);
  await writeFile(join(folder, 'KEY'), 'of the folder');
  await expect.poll(() => secret('KEY'), SOON).toBe('of the folder');
});
