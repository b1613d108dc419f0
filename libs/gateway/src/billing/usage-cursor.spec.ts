import { randomUUID } from 'node:crypto';
import type { UsageFilter } from '@svc/contracts/ports';
import { describe, expect, it } from 'vitest';
import { type UsageWalk, readCursor, writeCursor } from './usage-cursor.js';

const accountId = randomUUID();
const walkOf = (filter: Partial<UsageFilter> = {}): UsageWalk => ({
  filter: { accountId, ...filter },
  pageSize: 10,
  after: {
    at: new Date('2026-11-21T10:15:00.123Z'),
    requestId: 'chatcmpl-0199f3a1c2d37b8e',
    line: 1,
    currency: 'DIEM',
  },
});
const REFUSED = { code: 'INVALID_REQUEST', param: 'cursor' };
const refused = (cursor: string, account = accountId): unknown => {
  try {
    return readCursor(cursor, account);
  } catch (error) {
    return error;
  }
};

describe('a cursor', () => {
  it('contains the filter, the page size and the position', () => {
    for (const walk of [
      walkOf(),
      walkOf({ from: new Date(0), until: new Date('2026-12-01T00:00:00Z'), currency: 'USD' }),
      walkOf({ keyId: randomUUID() }),
      walkOf({ keyId: `console:${randomUUID()}`, model: 'some/model' }),
    ]) {
      const cursor = writeCursor(walk);
      expect(cursor).toMatch(/^[A-Za-z0-9_-]{1,512}$/);
      expect(readCursor(cursor, accountId)).toEqual(walk);
    }
  });

  it('is rejected for another account', () => {
    expect(refused(writeCursor(walkOf()), randomUUID())).toMatchObject(REFUSED);
  });

  it('is rejected when any of its characters has changed', () => {
    const cursor = writeCursor(walkOf());
    // The last character has unused bits.
    for (let place = 0; place < cursor.length - 1; place += 1) {
      const changed = cursor[place] === 'A' ? 'B' : 'A';
      expect(refused(cursor.slice(0, place) + changed + cursor.slice(place + 1))).toMatchObject(REFUSED);
    }
  });

  it.each(['', 'x', 'not/base64url', '='.repeat(40), 'A'.repeat(40), 'A'.repeat(1_025)])(
    'is rejected if it is %j',
    (text) => {
      expect(refused(text)).toMatchObject({
        ...REFUSED,
        message: 'Invalid or expired cursor; restart from the first page',
      });
    },
  );
});
