import type { StoredSession } from '@svc/identity/console';
import { describe, expect, it } from 'vitest';
import { demandFreshProof } from './fresh-proof.js';

const provenAgo = (minutes: number) =>
  ({ provenAt: new Date(Date.now() - minutes * 60_000) }) as StoredSession;

describe('what gives power away in the console', () => {
  it('needs a proof of the key or wallet in the last 15 minutes', () => {
    expect(() => demandFreshProof(provenAgo(14.9))).not.toThrow();
    expect(() => demandFreshProof(provenAgo(15.1))).toThrow(
      expect.objectContaining({ code: 'STEP_UP_REQUIRED', status: 403 }) as Error,
    );
  });

  it('needs nothing more with an API key, which every request proves', () => {
    expect(() => demandFreshProof(undefined)).not.toThrow();
  });
});
