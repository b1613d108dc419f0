import { encryptionHeaders, faultyHeaders } from '@svc/api/tee';
import { type Caller, isOfKey } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import type { Incoming } from '@svc/runtime';

/** The key as which a batch runs. Refuses: INVALID_REQUEST for encrypted requests, UNAUTHORIZED. */
export function keyOfBatch({ headers }: Pick<Incoming, 'headers'>, { keyId }: Caller): string {
  if (encryptionHeaders(headers))
    throw faultyHeaders('the requests of a batch are stored, so they cannot be encrypted');
  if (!isOfKey(keyId))
    throw new Problem('UNAUTHORIZED', { message: 'A batch runs as an API key. Make it with one.' });
  return keyId;
}
