import { Injectable } from '@nestjs/common';
import type { ApiKeyChange, NewApiKey } from '@svc/api/keys';
import { type Caller, type KeySpend, UsageHistory, isBound } from '@svc/contracts/ports';
import { Problem, invalidRequest } from '@svc/contracts/problems';
import { keyTerms } from './api-key-terms.js';
import { KeyChanges } from './key-changes.js';
import {
  type StoredKey,
  ACTIVE_KEYS_MAX,
  type KeyAuthor,
  type KeyRevoker,
  KeyStore,
  type MadeKey,
  raisesLimits,
  widensUse,
} from '@svc/identity/accounts';

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

  /**
   * A key with limits gives up what the new key may spend. Refuses: INVALID_REQUEST, also when the account
   * has the maximum number of keys or the caller's key has less left than it would give; UNAVAILABLE.
   */
  async create(accountId: string, request: NewApiKey, by?: Caller): Promise<MadeKey> {
    const author = await this.author(accountId, by);
    const made = await this.keys.createBy(author, request.apiKeyType, keyTerms(request, new Date()));
    if (author.limited) this.changes.made(accountId);
    if (made) return made;
    throw new Problem('INVALID_REQUEST', {
      message: `An account may have ${ACTIVE_KEYS_MAX} active API keys. Revoke one before you create another.`,
    });
  }

  /**
   * A key with limits cannot raise its own, and gives up what another key may spend more. Refuses:
   * INVALID_REQUEST, API_KEY_NOT_FOUND, UNAVAILABLE.
   */
  async change(accountId: string, request: ApiKeyChange, by?: Caller): Promise<StoredKey> {
    if (request.disabled === true && by?.keyId === request.id)
      throw invalidRequest([{ path: ['disabled'], message: 'must be set with another key than this one' }]);
    const author = await this.author(accountId, by);
    const key = await this.keys.changeBy(author, request.id, keyTerms(request, new Date()));
    if (!key) throw unknownKey();
    this.changes.made(accountId);
    return key;
  }

  /** Whether a change lets a key do more, or for longer, than now. Refuses: API_KEY_NOT_FOUND. */
  async wouldRaise(accountId: string, request: ApiKeyChange): Promise<boolean> {
    const before = await this.keys.find(accountId, request.id);
    if (!before) throw unknownKey();
    const after = { ...before, ...keyTerms(request, new Date()) };
    const isLonger =
      before.expiresAt !== null && (after.expiresAt === null || after.expiresAt > before.expiresAt);
    const isEnabled = before.isDisabled && !after.isDisabled;
    return isLonger || isEnabled || raisesLimits({ before, after }) || widensUse(before, after);
  }

  /**
   * Gives a key a new secret; the earlier one works for `overlapSeconds` more. Refuses: API_KEY_NOT_FOUND;
   * INVALID_REQUEST if the caller's key may do less; UNAVAILABLE.
   */
  async rotate(caller: Caller, keyId: string, overlapSeconds: number): Promise<MadeKey> {
    const { accountId } = caller;
    const until = new Date(Date.now() + overlapSeconds * 1_000);
    const made = await this.keys.rotateBy(await this.author(accountId, caller), keyId, until);
    if (!made) throw unknownKey();
    this.changes.made(accountId);
    return made;
  }

  /** Revokes a key. Idempotent. Refuses: API_KEY_NOT_FOUND. */
  async revoke(accountId: string, keyId: string, by: KeyRevoker): Promise<void> {
    if (!(await this.keys.revoke(accountId, keyId, by))) throw unknownKey();
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

  private async author(accountId: string, by: Caller | undefined): Promise<KeyAuthor> {
    if (!by || !isBound(by)) return { accountId };
    const [spend] = await this.history.keys(
      accountId,
      [by.keyId],
      by.keyLimit?.period === 'HOUR' ? [by.keyId] : [],
    );
    return { accountId, limited: { keyId: by.keyId, spend } };
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
        keys.filter(({ limitPeriod }) => limitPeriod === 'HOUR').map(({ id }) => id),
      );
    } catch (error) {
      if (error instanceof Problem && error.code === 'UNAVAILABLE') return [];
      throw error;
    }
  }
}

const unknownKey = (): Problem => new Problem('API_KEY_NOT_FOUND', { param: 'id' });
