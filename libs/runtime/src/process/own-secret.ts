import { randomBytes } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SECRET_LENGTH } from '../http/secrets.js';
import { StartFault } from '../start-fault.js';

/** A secret of this installation: created at the first start, readable by its owner only. */
export async function ownSecret(dataDir: string, name: 'operator-token' | 'webhook-key'): Promise<string> {
  const path = join(dataDir, name);
  const token = (await read(path)) ?? (await make(path));
  if (token.length < SECRET_LENGTH) {
    throw new StartFault(
      `${path} holds fewer than ${SECRET_LENGTH} characters. Delete it, and the next start makes a new one.`,
    );
  }
  return token;
}

async function read(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/**
 * The file gets its name only once it is completely on disk, so that a crash never leaves a partial secret.
 */
async function make(path: string): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  const aside = `${path}.${process.pid}`;
  await writeFile(aside, `${token}\n`, { mode: 0o600, flush: true });
  try {
    await link(aside, path);
    return token;
  } catch (error) {
    // Another process was first.
    const theirs = hasCode(error, 'EEXIST') ? await read(path) : undefined;
    if (theirs === undefined) throw error;
    return theirs;
  } finally {
    await rm(aside, { force: true });
  }
}

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;
