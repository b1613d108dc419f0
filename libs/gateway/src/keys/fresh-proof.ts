import { MINUTE_MS } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import type { StoredSession } from '@svc/identity/console';

const FRESH_MS = 15 * MINUTE_MS;

/**
 * In the console, what gives power away needs a recent proof of the key or wallet: someone may have left the
 * browser open. Requests with credentials of their own prove them. Refuses: STEP_UP_REQUIRED.
 */
export function demandFreshProof(session: StoredSession | undefined): void {
  if (session && Date.now() - session.provenAt.getTime() > FRESH_MS) throw new Problem('STEP_UP_REQUIRED');
}
