import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The operator's secret of this installation: made at the first start, readable by its owner only. */
export async function operatorToken(dataDir: string): Promise<string> {
  const path = join(dataDir, 'operator-token');
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
  const token = randomBytes(32).toString('base64url');
  await writeFile(path, `${token}\n`, { mode: 0o600, flag: 'wx' });
  return token;
}
