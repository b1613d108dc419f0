import { Injectable } from '@nestjs/common';
import { Problem } from '@svc/contracts/problems';
import type { Incoming } from '@svc/runtime';
import pLimit from 'p-limit';
import { tokenOf } from './session-cookie.js';
import { type StoredSession, SessionStore } from './session.store.js';

/** Concurrent lookups for addresses that are blocked for their failures, and how many may wait. */
const SUSPECT_LOOKUPS = 2;
const SUSPECT_WAITING = 100;

/** Finds the sessions of requests. */
@Injectable()
export class Sessions {
  private readonly suspects = pLimit(SUSPECT_LOOKUPS);

  constructor(private readonly store: SessionStore) {}

  /**
   * The session that a request's cookie names, if it is open. `isSuspect` is set for addresses with too many
   * failures. Refuses: UNAVAILABLE.
   */
  async of(request: Incoming, isSuspect: boolean): Promise<StoredSession | undefined> {
    const token = tokenOf(request);
    if (token === undefined) return undefined;
    if (isSuspect && this.suspects.pendingCount >= SUSPECT_WAITING) throw new Problem('UNAVAILABLE');
    try {
      const look = (): Promise<StoredSession | undefined> => this.store.find(token);
      return await (isSuspect ? this.suspects(look) : look());
    } catch (error) {
      throw new Problem('UNAVAILABLE', { cause: error });
    }
  }
}
