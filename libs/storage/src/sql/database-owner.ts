import { StartFault, type StartingProcess } from '@svc/runtime';
import {
  type InstanceLock,
  InstanceRunning,
  type LockMode,
  type LockWatch,
  holdInstanceLock,
} from './instance-lock.js';

/** Names the lock of whoever keeps balances on a database. */
const INSTANCE = 'svc-all';

const REFUSED: Readonly<Record<LockMode, string>> = {
  alone: 'belongs to a running instance, or to the ledgers of a running cluster.',
  together: 'belongs to a running instance of one process, which keeps balances in its memory.',
};

/**
 * Takes the database for a process that keeps balances in its memory, alone, or for the ledgers of a cluster, together. It is let
 * go of as the process ends. Refuses, where the others are there already: StartFault, which says whose `owned` is.
 */
export async function takeDatabase(
  { url, mode, owned }: { readonly url: string; readonly mode: LockMode; readonly owned?: string },
  starting: Pick<StartingProcess, 'undo'>,
): Promise<InstanceLock> {
  const { host } = new URL(url);
  try {
    const lock = await holdInstanceLock(url, INSTANCE, mode);
    starting.undo(() => lock.release());
    return lock;
  } catch (error) {
    const fault =
      error instanceof InstanceRunning
        ? `${owned ?? `The database at ${host}`} ${REFUSED[mode]}`
        : `The database at ${host} can not be used: ${error instanceof Error ? error.message : String(error)}`;
    throw new StartFault(fault, { cause: error });
  }
}

/** Keeps a database that was taken over any outage; the log says what becomes of it. */
export function keepDatabase(
  lock: InstanceLock,
  { logger }: Pick<StartingProcess, 'logger'>,
  { onAway, onBack, onTaken }: Partial<LockWatch> & Pick<LockWatch, 'onTaken'>,
): Promise<void> {
  return lock.keep({
    onAway: (reason) => {
      onAway?.(reason);
      logger.error({ reason }, 'the database is away');
    },
    onBack: () => {
      onBack?.();
      logger.warn('the database is back, and nobody else has had it');
    },
    onTaken,
  });
}
