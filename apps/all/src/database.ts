import { StartFault, type StartingProcess } from '@svc/runtime';
import {
  type InstanceLock,
  InstanceRunning,
  holdInstanceLock,
  migrate,
  MIGRATIONS_DIR,
  startEmbeddedPostgres,
} from '@svc/storage';

/** Names the advisory lock: limits and holds are in memory, so a database serves one process of this kind. */
const INSTANCE = 'svc-all';

/**
 * Opens the database that is given, or the embedded one, makes sure that it is this process's alone, and brings its
 * tables up to date. Refuses: StartFault.
 */
export async function openDatabase(
  { dataDir, url }: { dataDir: string; url: string | undefined },
  { logger, undo, fail }: StartingProcess,
): Promise<string> {
  const embedded = url === undefined ? await startEmbeddedPostgres({ dataDir, logger }) : undefined;
  const databaseUrl = url ?? embedded?.url ?? '';
  // Without the lock the embedded server is another process's, and is left running.
  const lock = await lockFor(databaseUrl, url === undefined ? dataDir : 'The database');
  if (embedded) undo(() => embedded.stop());
  undo(() => lock.release());
  lock.onLost(() => fail('the lock on the database is lost; the process stops, since another may start'));
  await migrate(databaseUrl, MIGRATIONS_DIR);
  return databaseUrl;
}

async function lockFor(databaseUrl: string, owned: string): Promise<InstanceLock> {
  try {
    return await holdInstanceLock(databaseUrl, INSTANCE);
  } catch (error) {
    if (error instanceof InstanceRunning)
      throw new StartFault(`${owned} belongs to a running instance.`, { cause: error });
    throw error;
  }
}
