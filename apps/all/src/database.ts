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
  const { logger, undo } = starting;
  const embedded = url === undefined ? await startEmbeddedPostgres({ dataDir, logger }) : undefined;
  const databaseUrl = url ?? embedded?.url ?? '';
  // Without the lock the embedded server is another process's, and is left running.
  const lock = await lockFor(databaseUrl, url === undefined ? dataDir : 'The database');
  let isOurs = true;
  if (embedded) undo(() => (isOurs ? embedded.stop() : undefined));
  undo(() => lock.release());
  await migrate(databaseUrl, MIGRATIONS_DIR);
  const onTaken = (): void => {
    isOurs = false;
    starting.fail(TAKEN);
  };
  await keep(lock, starting, onTaken);
  embedded?.keepRunning(onTaken);
  return databaseUrl;
}

function keep(
  lock: InstanceLock,
  { logger, readiness }: StartingProcess,
  onTaken: () => void,
): Promise<void> {
  return lock.keep({
    onAway: (reason) => {
      readiness.report('database', 'it is away');
      logger.error({ reason }, 'the database is away');
    },
    onBack: () => {
      readiness.report('database');
      logger.warn('the database is back, and nobody else has had it');
    },
    onTaken,
  });
}

async function lockFor(databaseUrl: string, owned: string): Promise<InstanceLock> {
  try {
    return await holdInstanceLock(databaseUrl, INSTANCE);
  } catch (error) {
    const { host } = new URL(databaseUrl);
    const fault =
      error instanceof InstanceRunning
        ? `${owned} belongs to a running instance.`
        : `The database at ${host} can not be used: ${error instanceof Error ? error.message : String(error)}`;
    throw new StartFault(fault, { cause: error });
  }
}
