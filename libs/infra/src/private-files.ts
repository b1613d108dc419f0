import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Creates a folder that only its owner can enter, or that others can enter but not list; an existing folder
 * gets the mode too.
 */
export async function privateFolder(folder: string, mode: 0o700 | 0o711 = 0o700): Promise<void> {
  await mkdir(folder, { recursive: true });
  await chmod(folder, mode);
}

/** The password of a server, created at its first start and kept in its folder. */
export async function ownPassword(folder: string): Promise<string> {
  await privateFolder(folder);
  const path = join(folder, 'password');
  const made = randomBytes(24).toString('hex');
  try {
    await writeFile(path, made, { mode: 0o600, flag: 'wx' });
    return made;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return readFile(path, 'utf8');
  }
}
