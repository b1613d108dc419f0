import { Controller, Param, Query } from '@nestjs/common';
import { type OperatorKeyList, OperatorKeyQuery, type OperatorKeyView } from '@svc/api/operator';
import { Problem } from '@svc/contracts/problems';
import { routes } from '@svc/api';
import { Serves } from '@svc/runtime';
import { plainApiKeyView } from '../keys/api-key-views.js';
import { ApiKeys } from '../keys/api-keys.js';
import { OperatorOf } from '@svc/identity/auth';
import { KeyListStore, type ListedKey } from '@svc/identity/accounts';

/** Lists and revokes keys of any account. */
@Controller()
export class KeysController {
  constructor(
    private readonly store: KeyListStore,
    private readonly keys: ApiKeys,
  ) {}

  @Serves(routes.listAllKeys)
  async list(@Query() query: OperatorKeyQuery): Promise<OperatorKeyList> {
    const data = (await this.store.list(query)).map(viewOf);
    const nextBefore = data.length === query.limit ? (data.at(-1)?.id ?? null) : null;
    return { object: 'list', data, nextBefore };
  }

  @Serves(routes.revokeAnyKey)
  async revoke(@Param() { id }: { id: string }, @OperatorOf() operator: string): Promise<OperatorKeyView> {
    const { key } = await this.get(id);
    await this.keys.revoke(key.accountId, id, `operator:${operator}`);
    return viewOf(await this.get(id));
  }

  private async get(id: string): Promise<ListedKey> {
    const found = await this.store.find(id);
    if (!found) throw new Problem('API_KEY_NOT_FOUND', { param: 'id', message: 'No such API key' });
    return found;
  }
}

function viewOf({ key, revokedAt, revokedBy }: ListedKey): OperatorKeyView {
  const isExpired = key.expiresAt !== null && key.expiresAt.getTime() <= Date.now();
  const state = isExpired ? 'expired' : 'active';
  return {
    ...plainApiKeyView(key),
    accountId: key.accountId,
    state: revokedAt ? 'revoked' : state,
    revokedAt: revokedAt?.toISOString() ?? null,
    revokedBy,
  };
}
