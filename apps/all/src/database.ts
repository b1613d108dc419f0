import type { Logger } from '@svc/runtime';
import {
  type InstanceLock,
  InstanceRunning,
  holdInstanceLock,
  migrate,
  MIGRATIONS_DIR,
  startEmbeddedPostgres,
} from '@svc/storage';
import type { Stopper } from './stopper.js';

/** Names the advisory lock: limits and holds are in memory, so a database serves one process of this kind. */
const INSTANCE = 'svc-all';

/**
 * Opens the database that is given, or the embedded one, makes sure that it is this process's alone, and brings its
 * tables up to date. Refuses: InstanceRunning.
 */
export async function openDatabase(
  { dataDir, url }: { dataDir: string; url: string | undefined },
  logger: Logger,
  stopper: Stopper,
): Promise<string> {
  const embedded = url === undefined ? await startEmbeddedPostgres({ dataDir, logger }) : undefined;
  const databaseUrl = url ?? embedded?.url ?? '';
  // Without the lock the embedded server is another process's, and is left running.
  const lock = await lockFor(databaseUrl, url === undefined ? dataDir : 'The database');
  if (embedded) stopper.add(() => embedded.stop());
  stopper.add(() => lock.release());
  lock.onLost(() => {
    logger.fatal('the lock on the database is lost; the process stops, since another may start');
    process.kill(process.pid, 'SIGTERM');
  });
  await migrate(databaseUrl, MIGRATIONS_DIR);
  return databaseUrl;
}

async function lockFor(databaseUrl: string, owned: string): Promise<InstanceLock> {
  try {
    return await holdInstanceLock(databaseUrl, INSTANCE);
  } catch (error) {
    if (error instanceof InstanceRunning)
      throw new InstanceRunning(`${owned} belongs to a running instance.`, { cause: error });
    throw error;
  }
}
