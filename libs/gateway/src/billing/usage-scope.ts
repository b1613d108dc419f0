import { WEB_APP } from '@svc/api/billing';
import { type Caller, type UsageFilter, consoleKeyId } from '@svc/contracts/ports';
import { namedEndUser } from '@svc/identity/end-users';
import { Problem } from '@svc/contracts/problems';

/** Whose usage a caller wants and may see. */
export type UsageScope = Pick<UsageFilter, 'accountId' | 'keyId' | 'model' | 'endUser'>;

interface Wanted {
  readonly apiKeyId?: string | undefined;
  readonly model?: string | undefined;
  readonly user?: string | undefined;
}

/** An INFERENCE key sees its own usage only, whatever it asks for. Refuses: API_KEY_NOT_FOUND. */
export function usageScope(caller: Caller, wanted: Wanted = {}): UsageScope {
  const { accountId, keyId: ownId, keyType } = caller;
  const { apiKeyId, model, user } = wanted;
  const soughtId = apiKeyId === WEB_APP ? consoleKeyId(accountId) : apiKeyId;
  const keyId = keyType === 'ADMIN' ? soughtId : ownId;
  if (soughtId !== undefined && soughtId !== keyId)
    throw new Problem('API_KEY_NOT_FOUND', { param: 'apiKeyId' });
  return {
    accountId,
    ...(keyId !== undefined && { keyId }),
    ...(model !== undefined && { model }),
    ...(user !== undefined && { endUser: namedEndUser(caller, user) }),
  };
}

/** Those within the scope. Ledgers of an earlier version ignore the key and the model of a filter. */
export function within<Usage extends { readonly keyId: string; readonly model: string }>(
  usage: readonly Usage[],
  { keyId, model }: UsageScope,
): Usage[] {
  return usage.filter(
    (each) => (keyId === undefined || each.keyId === keyId) && (model === undefined || each.model === model),
  );
}
