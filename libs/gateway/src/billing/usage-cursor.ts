import { createHmac } from 'node:crypto';
import { Problem } from '@svc/contracts/problems';
import type { UsageFilter, UsagePlace } from '@svc/contracts/ports';
import { jsonOrUndefined } from '@svc/runtime';
import { z } from 'zod';

/** A walk through the usage history: its filter, page size and position. */
export interface UsageWalk {
  readonly filter: UsageFilter;
  readonly pageSize: number;
  readonly after: UsagePlace;
}

const SEAL_BYTES = 16;
const CURSOR_CHARACTERS = 1_024;

const Ms = z.int().min(-62_135_596_800_000).max(253_402_300_799_999);
const Currency = z.enum(['USD', 'DIEM']);

const Name = z.string().max(200).nullable();

/** The last three are absent in a cursor without them, which earlier versions can read. */
const Contents = z.tuple([
  Ms.nullable(),
  Ms.nullable(),
  Currency.nullable(),
  z.int().min(1).max(1_000),
  Ms,
  z.string().regex(/^[\x20-\x7e]{1,200}$/),
  z.int().min(0).max(2_147_483_647),
  Currency,
  Name.optional(),
  Name.optional(),
  Name.optional(),
]);

/**
 * Encodes a walk as text for the client to keep. The account is only part of the seal, so a cursor of another
 * account is rejected. A forged seal only gives access to other positions in the caller's own history.
 */
export function writeCursor({ filter, pageSize, after }: UsageWalk): string {
  const contents: z.infer<typeof Contents> = [
    filter.from?.getTime() ?? null,
    filter.until?.getTime() ?? null,
    filter.currency ?? null,
    pageSize,
    after.at.getTime(),
    after.requestId,
    after.line,
    after.currency,
    ...lastOf(filter),
  ];
  const bytes = Buffer.from(JSON.stringify(contents));
  return Buffer.concat([seal(bytes, filter.accountId), bytes]).toString('base64url');
}

function lastOf({ keyId, model, endUser }: UsageFilter) {
  const both = [keyId ?? null, model ?? null] as const;
  if (endUser !== undefined) return [...both, endUser] as const;
  return keyId === undefined && model === undefined ? ([] as const) : both;
}

/** Refuses: INVALID_REQUEST if it is not a cursor of this account. */
export function readCursor(cursor: string, accountId: string): UsageWalk {
  const contents = Contents.safeParse(opened(cursor, accountId));
  if (!contents.success) throw badCursor();
  const [fromMs, untilMs, currency, pageSize, atMs, requestId, line, paidIn, keyId, model, endUser] =
    contents.data;
  const filter: UsageFilter = {
    accountId,
    ...(fromMs !== null && { from: new Date(fromMs) }),
    ...(untilMs !== null && { until: new Date(untilMs) }),
    ...(currency !== null && { currency }),
    ...(typeof keyId === 'string' && { keyId }),
    ...(typeof model === 'string' && { model }),
    ...(typeof endUser === 'string' && { endUser }),
  };
  return { filter, pageSize, after: { at: new Date(atMs), requestId, line, currency: paidIn } };
}

function opened(cursor: string, accountId: string): unknown {
  if (cursor.length > CURSOR_CHARACTERS || !/^[A-Za-z0-9_-]+$/.test(cursor)) throw badCursor();
  const bytes = Buffer.from(cursor, 'base64url');
  const contents = bytes.subarray(SEAL_BYTES);
  if (!bytes.subarray(0, SEAL_BYTES).equals(seal(contents, accountId))) throw badCursor();
  return jsonOrUndefined(contents.toString());
}

function seal(contents: Buffer, accountId: string): Buffer {
  return createHmac('sha256', `usage-history ${accountId}`).update(contents).digest().subarray(0, SEAL_BYTES);
}

function badCursor(): Problem {
  const message = 'Invalid or expired cursor; restart from the first page';
  const issues = [{ code: 'custom', path: ['cursor'], message }];
  return new Problem('INVALID_REQUEST', { message, param: 'cursor', issues });
}
