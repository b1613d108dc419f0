import { setTimeout as sleep } from 'node:timers/promises';
import type { Platform } from './platform.js';
import { type Nano, Witness, nanoOf, show } from './witness.js';

/** An account of a load: its keys, what it is credited with at a time, and who remembers all. */
export interface Payer {
  readonly witness: Witness;
  readonly apiKeys: readonly [string, ...string[]];
  readonly creditUsd: string;
  /** Whether it stakes, so that it pays in DIEM as well. */
  readonly stakes: boolean;
  /** The last of its keys may spend this much in its whole life. */
  readonly keyLimitUsd?: number;
}

type Wanted = Pick<Payer, 'creditUsd' | 'stakes' | 'keyLimitUsd'> & { readonly keys: number };

/** Accounts that pay for anything, one with a key that may not, two that run out all the time, two that stake. */
export async function openPayers(platform: Platform): Promise<[Payer, ...Payer[]]> {
  return [
    await openPayer(platform, { creditUsd: '5.00', stakes: false, keys: 2 }),
    await openPayer(platform, { creditUsd: '5.00', stakes: false, keys: 2, keyLimitUsd: 0.002 }),
    await openPayer(platform, { creditUsd: '0.00004', stakes: false, keys: 2 }),
    await openPayer(platform, { creditUsd: '0.0002', stakes: false, keys: 1 }),
    await openPayer(platform, { creditUsd: '0.001', stakes: true, keys: 1 }),
    await openPayer(platform, { creditUsd: '1.00', stakes: true, keys: 2 }),
  ];
}

/** Opens an account with its keys and its first credit. */
export async function openPayer(platform: Platform, { keys, ...wanted }: Wanted): Promise<Payer> {
  const { body } = await platform.operator('POST', '/accounts', { name: 'killed' });
  const witness = new Witness(String(body['id']), () => platform);
  witness.asked.set('start', {
    path: 'credits',
    body: { reference: 'start', usd: wanted.creditUsd },
    told: false,
  });
  const limited = await keyOf(platform, witness.accountId, wanted.keyLimitUsd);
  const others: string[] = [];
  while (others.length < keys - 1) others.push(await keyOf(platform, witness.accountId));
  const [first, ...rest] = [...others, limited];
  return { witness, apiKeys: [first ?? limited, ...rest], ...wanted };
}

async function keyOf(platform: Platform, accountId: string, limitUsd?: number): Promise<string> {
  const { body } = await platform.operator('POST', `/accounts/${accountId}/api_keys`, {
    apiKeyType: 'INFERENCE',
    description: '',
    ...(limitUsd !== undefined && { consumptionLimit: { usd: limitUsd }, limitPeriod: 'LIFETIME' }),
  });
  return String(body['apiKey']);
}

/** What does not fit between an account and what was seen of it, while nothing is under way. */
export async function payerFaults(platform: Platform, payer: Payer): Promise<string[]> {
  const { witness, apiKeys, keyLimitUsd } = payer;
  const faults = [...(await witness.askAgain()), ...(await witness.faults())];
  const { balances, result: spendable } = await witness.whileAtRest(() => spendableOf(platform, apiKeys[0]));
  // Nothing is held, so all of the balance can be spent.
  if (spendable.usd !== balances.usd || spendable.diem !== balances.diem)
    faults.push(`the balance is ${show(balances)}, and ${show(spendable)} can be spent`);
  const spentNano = witness.spentByKey.get(apiKeys.at(-1) ?? '') ?? 0;
  if (keyLimitUsd !== undefined && spentNano > keyLimitUsd * 1e9)
    faults.push(`a key has spent ${spentNano} nano-USD, and its limit is ${keyLimitUsd} USD`);
  return faults.map((fault) => `account ${witness.accountId}: ${fault}`);
}

/** As the headers of an answer that costs nothing say; not a number where they say nothing. */
async function spendableOf(platform: Platform, apiKey: string): Promise<Nano> {
  const headers = { authorization: `Bearer ${apiKey}` };
  const response = await fetch(`${platform.apiUrl}/models`, { headers });
  await response.text();
  const [usd, diem] = ['usd', 'diem'].map((currency) => response.headers.get(`x-svc-balance-${currency}`));
  return { usd: nanoOf(usd ?? 'none'), diem: nanoOf(diem ?? 'none') };
}

/** How long the service may take to be what it was before, on any machine. */
const WELL_MS = 90_000;

/**
 * What is left of an incident once the service has had time to put it right: of what the payers saw, in the books, and
 * of what `others` looks at.
 */
export async function faultsLeft(
  platform: Platform,
  payers: readonly Payer[],
  others: () => Promise<string[]> = () => Promise.resolve([]),
): Promise<string[]> {
  const faultsNow = async (): Promise<string[]> => {
    const { exitCode, output } = platform.service;
    if (exitCode !== null) return [`the service has ended with ${exitCode}:\n${output.slice(-2_000)}`];
    const faults = (await Promise.all(payers.map((payer) => payerFaults(platform, payer)))).flat();
    const audit = await platform.audit();
    if (audit.body['ok'] !== true) faults.push(`the audit finds ${JSON.stringify(audit.body)}`);
    return [...faults, ...(await others())];
  };
  const deadline = Date.now() + WELL_MS;
  for (;;) {
    const faults = await faultsNow().catch((error: unknown) => [String(error)]);
    if (faults.length === 0 || platform.service.exitCode !== null || Date.now() > deadline) return faults;
    await sleep(500);
  }
}
