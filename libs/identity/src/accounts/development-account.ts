import { Injectable } from '@nestjs/common';
import { Books } from '@svc/contracts/ports';
import { NANO_PER_USD } from '@svc/contracts/money';
import { AccountStore } from './account.store.js';
import { KeyStore } from './key.store.js';

/** Starting credit of the first account of a fresh installation. */
const STARTING_CREDIT_NANO = 10n * NANO_PER_USD;

/** Fixed, so that the next start completes one that crashed halfway. */
const ACCOUNT_ID = '00000000-0000-4000-8000-000000000001';

/** The account that pays for a new user's first request. */
export interface FirstAccount {
  readonly accountId: string;
  /** The secret of its key, only at the first start. */
  readonly apiKey: string | undefined;
  /** The last characters of its key, unless it is revoked. */
  readonly last6: string | undefined;
}

/** Creates the first account of an installation without accounts. */
@Injectable()
export class DevelopmentAccount {
  constructor(
    private readonly accounts: AccountStore,
    private readonly keys: KeyStore,
    private readonly books: Books,
  ) {}

  /** Returns undefined when the installation already has other accounts. */
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
