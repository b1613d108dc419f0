import { Injectable } from '@nestjs/common';
import { type ApiKeyChange, type KeySpend, type NewApiKey, Problem, UsageHistory } from '@svc/contracts';
import { keyTerms } from './api-key-terms.js';
import { KeyChanges } from './key-changes.js';
import type { StoredKey } from '../accounts/key-rows.js';
import { ACTIVE_KEYS_MAX, KeyStore, type MadeKey } from '../accounts/key.store.js';

/** A key and its spend, if known. */
export interface KeyWithSpend {
  readonly key: StoredKey;
  readonly spend: KeySpend | undefined;
}

/** Creates, changes, revokes and lists the keys of one account. Keys of other accounts are never visible. */
@Injectable()
export class ApiKeys {
  constructor(
    private readonly keys: KeyStore,
    private readonly changes: KeyChanges,
    private readonly history: UsageHistory,
  ) {}

  /** Refuses: INVALID_REQUEST, also when the account has the maximum number of keys. */
  async create(accountId: string, request: NewApiKey): Promise<MadeKey> {
    const made = await this.keys.create(accountId, request.apiKeyType, keyTerms(request, new Date()));
    if (made) return made;
    throw new Problem('INVALID_REQUEST', {
      message: `An account may have ${ACTIVE_KEYS_MAX} active API keys. Revoke one before you create another.`,
    });
  }

  /** Refuses: INVALID_REQUEST, API_KEY_NOT_FOUND. */
  async change(accountId: string, request: ApiKeyChange): Promise<StoredKey> {
    const key = await this.keys.change(accountId, request.id, keyTerms(request, new Date()));
    if (!key) throw unknownKey();
    this.changes.made(accountId);
    return key;
  }

  /** Revokes a key. Idempotent. Refuses: API_KEY_NOT_FOUND. */
  async revoke(accountId: string, keyId: string): Promise<void> {
    if (!(await this.keys.revoke(accountId, keyId))) throw unknownKey();
    this.changes.made(accountId);
  }

  async list(accountId: string): Promise<KeyWithSpend[]> {
    return this.withSpend(accountId, await this.keys.list(accountId));
  }

  /** Refuses: API_KEY_NOT_FOUND. */
  async get(accountId: string, keyId: string): Promise<KeyWithSpend> {
    const key = await this.keys.find(accountId, keyId);
    if (!key) throw unknownKey();
    const [found] = await this.withSpend(accountId, [key]);
    return found ?? { key, spend: undefined };
  }

  private async withSpend(accountId: string, keys: readonly StoredKey[]): Promise<KeyWithSpend[]> {
    const spends = await this.spends(accountId, keys);
    const byKey = new Map(spends.map((spend) => [spend.keyId, spend]));
    return keys.map((key) => ({ key, spend: byKey.get(key.id) }));
  }

  /** While the ledger is unavailable, keys are listed without their spend. */
  private async spends(accountId: string, keys: readonly StoredKey[]): Promise<readonly KeySpend[]> {
    if (keys.length === 0) return [];
    try {
      return await this.history.keys(
        accountId,
        keys.map(({ id }) => id),
      );
    } catch (error) {
      if (error instanceof Problem && error.code === 'UNAVAILABLE') return [];
      throw error;
    }
  }
}

const unknownKey = (): Problem => new Problem('API_KEY_NOT_FOUND', { param: 'id' });
