import { readFileSync } from 'node:fs';

/** When this build was made, `YYYYMMDD.HHMMSS` in UTC. The build writes it beside the compiled files. */
export const VERSION: string = readVersion();

function readVersion(): string {
  try {
    return readFileSync(new URL('./version.txt', import.meta.url), 'utf8').trim();
  } catch {
    // Without a build, as in tests that run from source.
    return '19700101.000000';
  }
}
