import { StartFault, type StartingProcess } from '@svc/runtime';
import type { StorageLogger } from '../logger.js';
import {
  type InstanceLock,
  InstanceRunning,
  type LockMode,
  type LockWatch,
  holdInstanceLock,
} from './instance-lock.js';
import { isOutOfReach, whenReachable } from './reachable.js';

/** The lock name for processes that keep balances on a database. */
const INSTANCE = 'svc-all';

const REFUSED: Readonly<Record<LockMode, string>> = {
  alone: 'is in use by a running instance or by the ledgers of a running cluster.',
  together: 'is in use by a running single-process instance, which keeps balances in memory.',
};

interface OwnedDatabase {
  readonly url: string;
  readonly mode: LockMode;
  /** What the error message says belongs to others; default: the database. */
  readonly owned?: string;
  /** How long to wait for a database that does not respond. */
  readonly waitMs: number;
  /** Prepares the tables while the lock is held. */
  readonly prepare: (url: string, options: { readonly logger: StorageLogger }) => Promise<unknown>;
}

interface OwnerWatch extends Partial<Omit<LockWatch, 'onTaken'>>, Pick<LockWatch, 'onTaken'> {
  /** Whether the lock is held. It is taken again if the start has to be repeated. */
  onHeld?(isHeld: boolean): void;
}

/**
 * Takes the database for a process that keeps balances in its memory (alone), or for the ledgers of a cluster
 * (together), and keeps it across outages until the process ends. Changes are logged. Throws StartFault if
 * others have it or it can't be reached.
 */
export async function ownDatabase(
  database: OwnedDatabase,
  { undo, logger }: Pick<StartingProcess, 'undo' | 'logger'>,
  watch: OwnerWatch,
): Promise<void> {
  const { onTaken } = watch;
  const logged: LockWatch = {
    onAway: (reason) => {
      watch.onAway?.(reason);
      logger.error({ reason }, 'the database is unavailable');
    },
    onBack: () => {
      watch.onBack?.();
      logger.warn('the database is available again, and no other process has used it');
    },
    onTaken,
  };
  let lock: InstanceLock | undefined;
  undo(() => lock?.release());
  await whenReachable({ url: database.url, waitMs: database.waitMs, logger }, async () => {
    // From an attempt that failed after it had the lock.
    await lock?.release();
    watch.onHeld?.(false);
    lock = await heldLock(database);
    watch.onHeld?.(true);
    await database.prepare(database.url, { logger });
    await lock.keep(logged);
  });
}

async function heldLock({ url, mode, owned }: OwnedDatabase): Promise<InstanceLock> {
  try {
    return await holdInstanceLock(url, INSTANCE, mode);
  } catch (error) {
    if (isOutOfReach(error)) throw error;
    const place = `The database at ${new URL(url).host}`;
    const fault =
      error instanceof InstanceRunning
        ? `${owned ?? place} ${REFUSED[mode]}`
        : `${place} cannot be used: ${error instanceof Error ? error.message : String(error)}`;
    throw new StartFault(fault, { cause: error });
  }
}
