import type { StartingProcess } from '@svc/runtime';
import { migrate, ownDatabase, startEmbeddedPostgres } from '@svc/storage';

const TAKEN =
  'another process has had the database meanwhile: what this one remembers of balances may be wrong';

/**
 * Opens the database that is given, or the embedded one, makes sure that it is this process's alone, and brings its
 * tables up to date; one that does not answer is waited for. From then on any outage of the database is one that the
 * process waits for, with `/readyz` saying no; it ends only when another process has had the database meanwhile.
 * Throws StartFault.
 */
export async function openDatabase(
  { dataDir, url, waitMs }: { dataDir: string; url: string | undefined; waitMs: number },
  starting: StartingProcess,
): Promise<string> {
  const { logger, readiness, undo } = starting;
  const embedded = url === undefined ? await startEmbeddedPostgres({ dataDir, logger }) : undefined;
  const databaseUrl = url ?? embedded?.url ?? '';
  // Without the lock the embedded server is another process's, and is left running.
  let isOurs = false;
  if (embedded) undo(() => (isOurs ? embedded.stop() : undefined));
  const onTaken = (): void => {
    isOurs = false;
    starting.fail(TAKEN);
  };
  // Limits and holds are in memory.
  const owned = url === undefined ? dataDir : 'The database';
  await ownDatabase({ url: databaseUrl, mode: 'alone', owned, waitMs, prepare: migrate }, starting, {
    onHeld: (isHeld) => (isOurs = isHeld),
    onAway: () => readiness.report('database', 'it is away'),
    onBack: () => readiness.report('database'),
    onTaken,
  });
  embedded?.keepRunning(onTaken);
  return databaseUrl;
}
