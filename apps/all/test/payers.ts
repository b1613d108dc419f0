import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from './response-bodies.js';
import type { Deployment } from './deployment.js';
import { TEST_MODEL } from './platform.js';
import { type Nano, Reconciliation, nanoOf, show } from './reconciliation.js';

/** An account of a load: its keys, its credit per top-up, and the record of its requests. */
export interface Payer {
  readonly reconciliation: Reconciliation;
  readonly apiKeys: readonly [string, ...string[]];
  readonly creditUsd: string;
  /** Whether it has a stake, so that it also pays in DIEM. */
  readonly stakes: boolean;
  /** The total spending limit of its last key. */
  readonly keyLimitUsd?: number;
}

type Wanted = Pick<Payer, 'creditUsd' | 'stakes' | 'keyLimitUsd'> & { readonly keys: number };

/**
 * Accounts that can pay for anything, one with a limited key, two that often run out of money, two with a
 * stake.
 */
export async function openPayers(deployment: Deployment): Promise<[Payer, ...Payer[]]> {
  return [
    await openPayer(deployment, { creditUsd: '5.00', stakes: false, keys: 2 }),
    await openPayer(deployment, { creditUsd: '5.00', stakes: false, keys: 2, keyLimitUsd: 0.002 }),
    await openPayer(deployment, { creditUsd: '0.00004', stakes: false, keys: 2 }),
    await openPayer(deployment, { creditUsd: '0.0002', stakes: false, keys: 1 }),
    await openPayer(deployment, { creditUsd: '0.001', stakes: true, keys: 1 }),
    await openPayer(deployment, { creditUsd: '1.00', stakes: true, keys: 2 }),
  ];
}

/** Opens an account with its keys and its first credit. */
export async function openPayer(deployment: Deployment, { keys, ...wanted }: Wanted): Promise<Payer> {
  const { body } = await deployment.operator('POST', '/accounts', { name: 'killed' });
  const reconciliation = new Reconciliation(String(body['id']), () => deployment);
  reconciliation.operatorRequests.set('start', {
    path: 'credits',
    body: { reference: 'start', usd: wanted.creditUsd },
    isConfirmed: false,
  });
  const limited = await keyOf(deployment, reconciliation.accountId, wanted.keyLimitUsd);
  const others: string[] = [];
  while (others.length < keys - 1) others.push(await keyOf(deployment, reconciliation.accountId));
  const [first, ...rest] = [...others, limited];
  return { reconciliation, apiKeys: [first ?? limited, ...rest], ...wanted };
}

/** Opens an account whose last key has a limit, uses its keys, and then refunds, stakes and credits. */
export async function openChangedPayer(deployment: Deployment): Promise<Payer> {
  const payer = await openPayer(deployment, { creditUsd: '5.00', stakes: true, keys: 2, keyLimitUsd: 1 });
  const { reconciliation, apiKeys } = payer;
  const path = `/accounts/${reconciliation.accountId}`;
  await reconciliation.askAgain();
  const responses = await Promise.all(apiKeys.map((apiKey) => askAs(deployment, apiKey)));
  const requestId = responses[0]?.headers.get('x-request-id');
  const refunded = async (): Promise<boolean> => {
    const { status } = await deployment.operator('POST', `${path}/refunds`, {
      reference: 'refund',
      requestId,
    });
    return status === 201;
  };
  await eventually('the request is refunded', refunded);
  const stake = await deployment.operator('PUT', `${path}/stake`, { tokens: 0.001 });
  const credit = await deployment.operator('POST', `${path}/credits`, { reference: 'more', usd: '5.00' });
  assert.deepEqual([stake.status, credit.status], [200, 201]);
  return payer;
}

/** A short completion, read to its end. */
export async function askAs(deployment: Deployment, apiKey: string): Promise<Response> {
  const response = await deployment.chat(apiKey, {
    model: TEST_MODEL.id,
    messages: [{ role: 'user', content: 'hi' }],
  });
  await response.text();
  return response;
}

async function keyOf(deployment: Deployment, accountId: string, limitUsd?: number): Promise<string> {
  const { body } = await deployment.operator('POST', `/accounts/${accountId}/api_keys`, {
    apiKeyType: 'INFERENCE',
    description: '',
    ...(limitUsd !== undefined && { consumptionLimit: { usd: limitUsd }, limitPeriod: 'LIFETIME' }),
  });
  return String(body['apiKey']);
}

/** The differences between an account and the recorded responses, while no request is in progress. */
export async function payerFaults(deployment: Deployment, payer: Payer): Promise<string[]> {
  return [...(await bookFaults(payer)), ...(await heldFaults(deployment, payer))];
}

/** The differences between the books of an account and the recorded responses. */
async function bookFaults({ reconciliation, apiKeys, keyLimitUsd }: Payer): Promise<string[]> {
  const faults = [...(await reconciliation.askAgain()), ...(await reconciliation.faults())];
  const spentNano = reconciliation.spentByKey.get(apiKeys.at(-1) ?? '') ?? 0;
  if (keyLimitUsd !== undefined && spentNano > keyLimitUsd * 1e9)
    faults.push(`a key has spent ${spentNano} nano-USD, and its limit is ${keyLimitUsd} USD`);
  return faults.map((fault) => `account ${reconciliation.accountId}: ${fault}`);
}

/** Money that is held though no request is in progress. */
async function heldFaults(deployment: Deployment, { reconciliation, apiKeys }: Payer): Promise<string[]> {
  const { balances, result: spendable } = await reconciliation.whileAtRest(() =>
    spendableOf(deployment, apiKeys[0]),
  );
  if (spendable.usd === balances.usd && spendable.diem === balances.diem) return [];
  return [
    `account ${reconciliation.accountId}: the balance is ${show(balances)}, and ${show(spendable)} can be spent`,
  ];
}

/** The balances in the headers of a free response; NaN if they are missing. */
async function spendableOf(deployment: Deployment, apiKey: string): Promise<Nano> {
  const headers = { authorization: `Bearer ${apiKey}` };
  const response = await fetch(`${deployment.apiUrl}/models`, { headers });
  await response.text();
  const [usd, diem] = ['usd', 'diem'].map((currency) => response.headers.get(`x-svc-balance-${currency}`));
  return { usd: nanoOf(usd ?? 'none'), diem: nanoOf(diem ?? 'none') };
}

/** Time limit for the service to recover, on any machine. */
const WELL_MS = 90_000;

interface Left {
  /** Whether holds may be left that expire later; default: no. */
  readonly mayHold?: boolean;
  /** Additional checks. */
  readonly others?: () => Promise<string[]>;
}

/** What an incident has left behind after the time to recover, in the payers' records and in the books. */
export async function faultsLeft(
  deployment: Deployment,
  payers: readonly Payer[],
  { mayHold = false, others }: Left = {},
): Promise<string[]> {
  const faultsNow = async (): Promise<string[]> => {
    if (deployment.fate !== undefined) return [deployment.fate];
    const look = (payer: Payer): Promise<string[]> =>
      mayHold ? bookFaults(payer) : payerFaults(deployment, payer);
    const faults = (await Promise.all(payers.map(look))).flat();
    const audit = await deployment.audit();
    if (audit.body['ok'] !== true) faults.push(`the audit finds ${JSON.stringify(audit.body)}`);
    return [...faults, ...((await others?.()) ?? [])];
  };
  const deadline = Date.now() + WELL_MS;
  for (;;) {
    const faults = await faultsNow().catch((error: unknown) => [String(error)]);
    if (faults.length === 0 || deployment.fate !== undefined || Date.now() > deadline) return faults;
    await sleep(500);
  }
}
