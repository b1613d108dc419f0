import type { StartingProcess } from '@svc/runtime';
import { migrate, ownDatabase, startEmbeddedPostgres } from '@svc/storage';

const TAKEN = 'another process has used the database in the meantime, so the balances in memory may be wrong';

/**
 * Opens the given database or the embedded one, takes the lock that keeps other processes off it, and
 * migrates its tables. Waits for a database that does not respond. Later outages are waited out too, with
 * `/readyz` failing; the process exits only if another process took the lock in the meantime. Throws
 * StartFault.
 */
export async function openDatabase(
  { dataDir, url, waitMs }: { dataDir: string; url: string | undefined; waitMs: number },
  starting: StartingProcess,
): Promise<string> {
  const { logger, readiness, undo } = starting;
  const embedded = url === undefined ? await startEmbeddedPostgres({ dataDir, logger }) : undefined;
  const databaseUrl = url ?? embedded?.url ?? '';
  // Without the lock, the embedded server belongs to another process and must keep running.
  let isOurs = false;
  if (embedded) undo(() => (isOurs ? embedded.stop() : undefined));
  const onTaken = (): void => {
    isOurs = false;
    starting.fail(TAKEN);
  };
  // Limits and holds are in memory, so no second process may use the database.
  const owned = url === undefined ? dataDir : 'The database';
  await ownDatabase({ url: databaseUrl, mode: 'alone', owned, waitMs, prepare: migrate }, starting, {
    onHeld: (isHeld) => (isOurs = isHeld),
    onAway: () => readiness.report('database', 'it is unavailable'),
    onBack: () => readiness.report('database'),
    onTaken,
  });
  embedded?.keepRunning(onTaken);
  return databaseUrl;
}
