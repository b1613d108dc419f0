import { Account, AccountWithBalances, CreatedApiKey } from '@svc/api/operator';
import { routes } from '@svc/api';
import type { OperatorClient } from './operator-client.js';

export interface NewCustomer {
  readonly name: string;
  /** Its first credit. */
  readonly usd: string;
  /** The operator's name of the payment. */
  readonly reference: string;
  readonly tier: string;
  /** Of its key. */
  readonly description: string;
}

/** Opens an account for a paying customer, credits it, and creates its first key. */
export async function newCustomer(client: OperatorClient, customer: NewCustomer): Promise<object> {
  const { name, tier, usd, reference, description } = customer;
  const opened = await client.json(routes.createAccount, { members: { name, tier, paid: true } });
  const { id } = Account.parse(opened);
  try {
    const params = { id };
    await client.json(routes.creditAccount, { params, members: { usd, reference } });
    const members = { apiKeyType: 'INFERENCE', description };
    const key = CreatedApiKey.parse(await client.json(routes.createAccountKey, { params, members }));
    const { balances } = AccountWithBalances.parse(await client.json(routes.getAccount, { params }));
    return { accountId: id, name, tier, balance: balances.usd, apiKeyId: key.id, apiKey: key.apiKey };
  } catch (error) {
    throw new Error(`The account ${id} is open, but what follows failed: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
