import { Injectable } from '@nestjs/common';
import type { RequestPlace, UsageFilter, UsageHistory } from '@svc/contracts/ports';
import { NOT_REFUNDED } from '../accounts/returned-charges.store.js';
import { SnapshotStore } from './snapshot.store.js';
import { ofUser } from './charge-users.store.js';
import { type EntryRow, usageEntry } from './usage-entries.js';
import { ENTRIES, entryValues, spanOf } from './usage-history.store.js';

export type RequestStep = Parameters<UsageHistory['requests']>[1];
export type RequestsFound = Awaited<ReturnType<UsageHistory['requests']>>;

/** The entries of posted charges, by request. */
@Injectable()
export class UsageRequestsStore {
  constructor(private readonly snapshots: SnapshotStore) {}

  read(filter: UsageFilter, { limit, before }: RequestStep): Promise<RequestsFound> {
    const { from, until } = spanOf(filter);
    const { accountId, keyId = null, model = null, requestId = null, endUser = null } = filter;
    return this.snapshots.read(async (client) => {
      const { rows: charges } = await client.query<{ at: Date; request_id: string }>(CHARGES, [
        accountId,
        from,
        until,
        keyId,
        model,
        requestId,
        endUser,
        before?.at ?? null,
        before?.requestId ?? null,
        limit + 1,
      ]);
      const wanted = charges.slice(0, limit);
      const [newest, oldest] = [wanted[0], wanted.at(-1)];
      if (!newest || !oldest) return { entries: [] };
      const { rows } = await client.query<EntryRow>(
        `${ENTRIES} AND charge.request_id = ANY($8::text[])
         ORDER BY charge.at DESC, charge.request_id DESC, line.line, paid.currency`,
        [
          ...entryValues(filter, { from: oldest.at, until: new Date(newest.at.getTime() + 1) }),
          wanted.map((charge) => charge.request_id),
        ],
      );
      const next: RequestPlace = { at: oldest.at, requestId: oldest.request_id };
      return { entries: rows.map(usageEntry), ...(charges.length > limit && { next }) };
    });
  }
}

const CHARGES = `
  SELECT at, request_id FROM ledger.charges AS charge
  WHERE account_id = $1 AND at >= $2 AND at < $3 AND ${NOT_REFUNDED}
    AND ($4::text IS NULL OR key_id = $4) AND ($5::text IS NULL OR model = $5)
    AND ($6::text IS NULL OR request_id = $6) AND ${ofUser('$7')}
    AND ($8::timestamptz IS NULL OR (at, request_id) < ($8, $9::text))
  ORDER BY at DESC, request_id DESC LIMIT $10`;
