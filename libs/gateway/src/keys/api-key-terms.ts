import type { ApiKeyChange, NewApiKey } from '@svc/api/keys';
import { type Problem, invalidRequest } from '@svc/contracts/problems';
import { numberToNano } from '@svc/contracts/money';
import { routes } from '@svc/api';
import type { RouteDefinition } from '@svc/api/route';
import { matchesPattern } from '@svc/contracts/ports';
import { type KeyTerms, endpointOf, needsKey, networkIn } from '@svc/identity/accounts';

type KeyRequest = Omit<ApiKeyChange, 'id'> | Omit<NewApiKey, 'apiKeyType'>;

/** The terms of a key that a request sets, as they are stored. Refuses: INVALID_REQUEST. */
export function keyTerms(request: KeyRequest, now: Date): Partial<KeyTerms> {
  const { description, expiresAt, consumptionLimit, limitPeriod, modelPrivacy } = request;
  const { requestsPerMinute, tokensPerMinute, requestsPerDay, tokensPerDay } = request;
  const { allowedModels, canInfer, disabled: isDisabled, tags } = request;
  const { fallbackModels, fallbackOn, maxCostPerRequest: most } = request;
  const { usd, diem } = consumptionLimit ?? {};
  return {
    ...(description !== undefined && { description }),
    ...(tags !== undefined && { tags: [...new Set(tags)] }),
    ...(expiresAt !== undefined && { expiresAt: expiry(expiresAt, now) }),
    ...(usd !== undefined && { usdLimitNano: limitNano(usd) }),
    ...(diem !== undefined && { diemLimitNano: limitNano(diem) }),
    ...(limitPeriod !== undefined && { limitPeriod }),
    ...(most !== undefined && { requestLimitNano: limitNano(most) }),
    ...(modelPrivacy !== undefined && { modelPrivacy }),
    ...(requestsPerMinute !== undefined && { requestsPerMinute }),
    ...(tokensPerMinute !== undefined && { tokensPerMinute }),
    ...(requestsPerDay !== undefined && { requestsPerDay }),
    ...(tokensPerDay !== undefined && { tokensPerDay }),
    ...(allowedModels !== undefined && { allowedModels: allowedModels ?? [] }),
    ...allowedUses(request),
    ...(canInfer !== undefined && { canInfer }),
    ...(isDisabled !== undefined && { isDisabled }),
    ...(fallbackModels !== undefined && { fallbackModels }),
    ...(fallbackOn !== undefined && { fallbackOn }),
  };
}

function allowedUses({
  allowedEndpoints,
  allowedIps,
}: KeyRequest): Partial<Pick<KeyTerms, 'allowedEndpoints' | 'allowedIps'>> {
  for (const [index, endpoint] of (allowedEndpoints ?? []).entries())
    if (!ENDPOINTS.some((known) => matchesPattern(endpoint, known)))
      throw refusal(
        ['allowedEndpoints', index],
        'must fit an endpoint, such as /chat/completions or /images/*',
      );
  for (const [index, ip] of (allowedIps ?? []).entries())
    if (!networkIn(ip))
      throw refusal(['allowedIps', index], 'must be an IP address or a network such as 192.0.2.0/24');
  return {
    ...(allowedEndpoints !== undefined && { allowedEndpoints: allowedEndpoints ?? [] }),
    ...(allowedIps !== undefined && { allowedIps: allowedIps ?? [] }),
  };
}

/** Those that need a key. */
const ENDPOINTS = Object.values<RouteDefinition>(routes).filter(needsKey).map(endpointOf);

const refusal = (path: (string | number)[], message: string): Problem => invalidRequest([{ path, message }]);

function expiry(text: string | null, now: Date): Date | null {
  if (text === null || text === '') return null;
  const at = new Date(text);
  if (at <= now) throw invalidRequest([{ path: ['expiresAt'], message: 'must be in the future' }]);
  return at;
}

/** The schema has validated the amount. */
export function limitNano(amount: number | null): bigint | null {
  return amount === null ? null : (numberToNano(amount) ?? null);
}
