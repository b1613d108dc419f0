import { execFile } from 'node:child_process';
import { mkdir, rename, rm } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const INSTALL_MS = 300_000;

/** Downloads a wheel from PyPI into a folder, by pip. `more` are further arguments of pip. */
export async function fetchWheel(
  folder: string,
  requirement: string,
  more: readonly string[] = [],
): Promise<void> {
  const aside = `${folder}.${process.pid}`;
  await mkdir(aside, { recursive: true });
  try {
    const install = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--only-binary', ':all:', ...more];
    await run('python3', [...install, '--target', aside, requirement], { timeout: INSTALL_MS });
    await rm(folder, { recursive: true, force: true });
    await rename(aside, folder);
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}
