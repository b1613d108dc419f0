import type { ApiKeyChange, NewApiKey } from '@svc/api/keys';
import { invalidRequest } from '@svc/contracts/problems';
import { numberToNano } from '@svc/contracts/money';
import { type KeyTerms } from '@svc/paid/accounts';

type KeyRequest = Omit<ApiKeyChange, 'id'> | Omit<NewApiKey, 'apiKeyType'>;

/** The terms of a key that a request sets, as they are stored. Refuses: INVALID_REQUEST. */
export function keyTerms(request: KeyRequest, now: Date): Partial<KeyTerms> {
  const { description, expiresAt, consumptionLimit, limitPeriod, modelPrivacy } = request;
  const { requestsPerMinute, tokensPerMinute } = request;
  const { usd, diem } = consumptionLimit ?? {};
  return {
    ...(description !== undefined && { description }),
    ...(expiresAt !== undefined && { expiresAt: expiry(expiresAt, now) }),
    ...(usd !== undefined && { usdLimitNano: limitNano(usd) }),
    ...(diem !== undefined && { diemLimitNano: limitNano(diem) }),
    ...(limitPeriod !== undefined && { limitPeriod }),
    ...(modelPrivacy !== undefined && { modelPrivacy }),
    ...(requestsPerMinute !== undefined && { requestsPerMinute }),
    ...(tokensPerMinute !== undefined && { tokensPerMinute }),
  };
}

function expiry(text: string | null, now: Date): Date | null {
  if (text === null || text === '') return null;
  const at = new Date(text);
  if (at <= now) throw invalidRequest([{ path: ['expiresAt'], message: 'must be in the future' }]);
  return at;
}

/** The schema has validated the amount. */
function limitNano(amount: number | null): bigint | null {
  return amount === null ? null : (numberToNano(amount) ?? null);
}
