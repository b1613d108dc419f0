import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const COMMAND = fileURLToPath(new URL('../../../../tools/release/last-release.mjs', import.meta.url));

/** Installing and building the last release, once. */
export const BUILD_MS = 30 * 60_000;

/** The folder of the last release, built. Rejects if the history of the repository does not have it. */
export async function lastRelease(): Promise<string> {
  const { stdout } = await run(process.execPath, [COMMAND]);
  return stdout.trim();
}
