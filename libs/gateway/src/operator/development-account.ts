import { Injectable } from '@nestjs/common';
import { Books, NANO_PER_USD } from '@svc/contracts';
import { AccountStore } from './account.store.js';
import { KeyStore } from '../auth/key.store.js';

/** What the first account of a fresh installation starts with. */
const STARTING_CREDIT_NANO = 10n * NANO_PER_USD;

/** Fixed, so that a start that died half-way is finished by the next one. */
const ACCOUNT_ID = '00000000-0000-4000-8000-000000000001';

/** The account that a newcomer's first request is paid from. */
export interface FirstAccount {
  readonly accountId: string;
  /** The secret of its key, at the first start only. */
  readonly apiKey: string | undefined;
  /** The last characters of its key, while that works. */
  readonly last6: string | undefined;
}

/** Makes the first account of an installation that has none. */
@Injectable()
export class DevelopmentAccount {
  constructor(
    private readonly accounts: AccountStore,
    private readonly keys: KeyStore,
    private readonly books: Books,
  ) {}

  /** Gives `undefined` where the operator opened accounts without it. */
  async ensure(): Promise<FirstAccount | undefined> {
    if (!(await this.accounts.exists(ACCOUNT_ID))) {
      if (await this.accounts.exists()) return undefined;
      await this.accounts.create({ name: 'development', tier: 'standard', paid: true }, ACCOUNT_ID);
    }
    const known = await this.keys.first(ACCOUNT_ID);
    if (known)
      return { accountId: ACCOUNT_ID, apiKey: undefined, last6: known.works ? known.last6 : undefined };
    await this.books.credit({
      accountId: ACCOUNT_ID,
      usdNano: STARTING_CREDIT_NANO,
      reference: 'development',
    });
    const made = await this.keys.create(ACCOUNT_ID, 'INFERENCE', { description: 'First key' });
    return { accountId: ACCOUNT_ID, apiKey: made?.secret, last6: made?.key.last6 };
  }
}
