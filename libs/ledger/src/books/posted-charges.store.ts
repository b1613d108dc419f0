import type { PostedCharge } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import { unitOf } from '@svc/contracts/money';
import type { Database } from '@svc/storage';
import { NEVER_CHARGED } from '../accounts/returned-charges.store.js';

interface ChargeRow {
  readonly request_id: string;
  readonly account_id: string;
  readonly key_id: string;
  readonly model: string;
  readonly backend: string;
  readonly at: Date;
  readonly prompt_tokens: bigint;
  readonly completion_tokens: bigint;
  readonly cached_tokens: bigint;
  readonly cache_write_tokens: bigint;
  readonly reasoning_tokens: bigint;
  readonly usd_nano: bigint;
  readonly diem_nano: bigint;
  readonly write_off_nano: bigint;
  readonly duration_ms: bigint;
}

interface LineRow {
  readonly sku: string;
  readonly unit: string | null;
  readonly units: bigint;
  readonly price_nano_per_million: bigint;
  readonly amount_nano: bigint;
  readonly usd_nano: bigint;
  readonly diem_nano: bigint;
  readonly provider_nano: bigint | null;
}

interface RefundRow {
  readonly reference: string;
  readonly usd_nano: bigint;
  readonly diem_nano: bigint;
  readonly at: Date;
}

/** Searches all months, because the request's month is unknown. Rejects: CHARGE_NOT_FOUND. */
export async function findPostedCharge(database: Database, requestId: string): Promise<PostedCharge> {
  const [row] = await database.query<ChargeRow>('SELECT * FROM ledger.charges WHERE request_id = $1', [
    requestId,
  ]);
  if (!row) throw await notPosted(database, requestId);
  const lines = await database.query<LineRow>(
    'SELECT * FROM ledger.charge_lines WHERE request_id = $1 AND at = $2 ORDER BY line',
    [requestId, row.at],
  );
  const refunds = await database.query<RefundRow>(
    'SELECT * FROM ledger.refunds WHERE account_id = $1 AND request_id = $2 ORDER BY id',
    [row.account_id, requestId],
  );
  return { ...chargeOf(row), lines: lines.map(lineOf), refunds: refunds.map(refundOf) };
}

async function notPosted(database: Database, requestId: string): Promise<Problem> {
  const [rejected] = await database.query<{ reason: string }>(
    'SELECT reason FROM ledger.rejected_charges WHERE position($1 IN event) > 0 LIMIT 1',
    [JSON.stringify(requestId)],
  );
  const message = rejected
    ? `The charge of this request could not be posted: ${rejected.reason}`
    : 'No charge is posted for this request. It is under way, cost nothing, is of a closed month, or is unknown.';
  return new Problem('CHARGE_NOT_FOUND', { param: 'requestId', message });
}

function chargeOf(row: ChargeRow): Omit<PostedCharge, 'lines' | 'refunds'> {
  return {
    requestId: row.request_id,
    accountId: row.account_id,
    keyId: row.key_id,
    model: row.model,
    backend: row.backend,
    at: row.at,
    usage: {
      promptTokens: Number(row.prompt_tokens),
      completionTokens: Number(row.completion_tokens),
      cachedTokens: Number(row.cached_tokens),
      cacheWriteTokens: Number(row.cache_write_tokens),
      reasoningTokens: Number(row.reasoning_tokens),
    },
    cost: { usdNano: row.usd_nano, diemNano: row.diem_nano },
    writeOffNano: row.write_off_nano,
    durationMs: Number(row.duration_ms),
  };
}

const lineOf = (row: LineRow): PostedCharge['lines'][number] => ({
  sku: row.sku,
  unit: unitOf(row),
  units: Number(row.units),
  priceNanoPerMillion: row.price_nano_per_million,
  amountNano: row.amount_nano,
  ...(row.provider_nano !== null && { providerNano: row.provider_nano }),
  paid: { usdNano: row.usd_nano, diemNano: row.diem_nano },
});

const refundOf = ({
  reference,
  usd_nano: usdNano,
  diem_nano: diemNano,
  at,
}: RefundRow): PostedCharge['refunds'][number] => ({
  reference,
  amount: { usdNano, diemNano },
  cause: reference.startsWith(NEVER_CHARGED) ? 'failed_request' : 'operator',
  at,
});
