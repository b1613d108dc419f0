import type { StartingProcess } from '@svc/runtime';
import { MIGRATIONS_DIR, keepDatabase, migrate, startEmbeddedPostgres, takeDatabase } from '@svc/storage';

const TAKEN =
  'another process has had the database meanwhile: what this one remembers of balances may be wrong';

/**
 * Opens the database that is given, or the embedded one, makes sure that it is this process's alone, and brings its
 * tables up to date. From then on any outage of the database is one that the process waits for, with `/readyz` saying
 * no; it ends only when another process has had the database meanwhile. Refuses: StartFault.
 */
export async function openDatabase(
  { dataDir, url }: { dataDir: string; url: string | undefined },
  starting: StartingProcess,
): Promise<string> {
  const { logger, readiness, undo } = starting;
  const embedded = url === undefined ? await startEmbeddedPostgres({ dataDir, logger }) : undefined;
  const databaseUrl = url ?? embedded?.url ?? '';
  // Without the lock the embedded server is another process's, and is left running.
  let isOurs = false;
  if (embedded) undo(() => (isOurs ? embedded.stop() : undefined));
  const owned = url === undefined ? dataDir : 'The database';
  // Limits and holds are in memory.
  const lock = await takeDatabase({ url: databaseUrl, mode: 'alone', owned }, starting);
  isOurs = true;
  await migrate(databaseUrl, MIGRATIONS_DIR);
  const onTaken = (): void => {
    isOurs = false;
    starting.fail(TAKEN);
  };
  await keepDatabase(lock, starting, {
    onAway: () => readiness.report('database', 'it is away'),
    onBack: () => readiness.report('database'),
    onTaken,
  });
  embedded?.keepRunning(onTaken);
  return databaseUrl;
}
