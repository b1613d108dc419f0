import type { Catalog } from '@svc/catalog';
import type { Caller, Limit } from '@svc/contracts/ports';
import { type ChargeLine, chargeLine } from '@svc/contracts/messages';
import { Problem, invalidRequest } from '@svc/contracts/problems';
import type { RpcFamily, RpcNetwork } from '@svc/contracts/catalog';
import type { RpcRequest } from '@svc/api/crypto-rpc';
import { usdToNano } from '@svc/contracts/money';
import { boundedJson, type JsonText } from '@svc/runtime';
import { jsonElements, jsonMembers } from '@svc/paid/json';
import { type Lasting, lastingOf } from './lasting-results.js';
import { checkedParams } from './checked-params.js';
import { factorOf } from './methods.js';
import { bodyOf } from './node-requests.js';
import { FaultyTransaction, type SentTransaction, sends, transactionOf } from './transactions.js';

const MILLION = 1_000_000n;

/** A call of a request. */
interface PlannedCall {
  /** The JSON text of its id; `undefined` for a notification, which gets no response. */
  readonly id: string | undefined;
  readonly method: string;
  /** The JSON text of its parameters. */
  readonly params: string | undefined;
  /** The JSON text of the error that the client gets instead of a call. */
  readonly refusal?: string;
  /** When its result lasts; `undefined`: perhaps never. */
  readonly lasting: Lasting | undefined;
  /** Its cost if a node responds. */
  readonly credits: number;
}

/** A call that sends a transaction. */
export interface SendCall extends SentTransaction {
  /** Its position in the request. */
  readonly index: number;
  readonly family: RpcFamily;
  readonly method: string;
  /** The request for a node. */
  readonly body: readonly Uint8Array[];
}

/** The plan for a request. */
export interface RpcPlan {
  readonly network: string;
  readonly settings: RpcNetwork;
  readonly calls: readonly PlannedCall[];
  /** Those calls that send transactions, in their order. */
  readonly sent: readonly SendCall[];
  /** Whether the response is a list. */
  readonly isList: boolean;
  readonly limits: readonly Limit[];
  /** The cost of a call to which a node responds with an error. */
  readonly errorCredits: number;
  /** The price of one, in nano-dollars. */
  readonly creditNano: bigint;
}

/**
 * Plans a request for blockchain nodes, given as parsed and as its text. Refuses: NOT_AVAILABLE,
 * INVALID_REQUEST, also for what is no transaction of the network; UNSUPPORTED_METHOD with the names.
 */
export async function planRpc(
  network: string,
  sent: {
    readonly body: RpcRequest;
    readonly json: JsonText;
    readonly caller: Caller;
    readonly finalizedBlock: number | undefined;
  },
  catalog: Catalog,
): Promise<RpcPlan> {
  const { cryptoRpc } = catalog;
  if (!cryptoRpc) throw new Problem('NOT_AVAILABLE', { message: 'This deployment has no blockchain nodes.' });
  const settings = Object.hasOwn(cryptoRpc.networks, network) ? cryptoRpc.networks[network] : undefined;
  if (!settings) {
    const message = `network must be one of those listed by GET /api/v1/crypto/rpc/networks`;
    throw invalidRequest([{ code: 'custom', path: ['network'], message }]);
  }
  const isList = Array.isArray(sent.body);
  const texts = isList ? jsonElements(sent.json.text) : [sent.json.text];
  const furtherMethods = new Map(Object.entries(settings.methods ?? {}));
  const unsupported = new Set<string>();
  const bounds = { maxLogBlocks: settings.maxLogBlocks, finalizedBlock: sent.finalizedBlock };
  const calls = [sent.body].flat().map(({ method }, index) => {
    const factor = factorOf(settings.family, method) ?? furtherMethods.get(method);
    if (factor === undefined) unsupported.add(method);
    const members = jsonMembers(texts[index] ?? '{}');
    const checked = checkedParams(method, members.get('params'), bounds);
    return {
      id: members.get('id'),
      method,
      ...checked,
      lasting: lastingOf(settings.family, { method, ...checked }),
      credits: settings.credits * (factor ?? 0),
    };
  });
  if (unsupported.size > 0) {
    const names = [...unsupported].join(', ');
    const message = `${network} does not support ${names}. Nothing was called.`;
    throw new Problem('UNSUPPORTED_METHOD', { message, param: 'method' });
  }
  return {
    network,
    settings,
    calls,
    sent: await sentBy({ calls, settings, isList }, sent.json),
    isList,
    limits: catalog.rpcLimits(sent.caller.tier),
    errorCredits: cryptoRpc.errorCredits,
    creditNano: usdToNano(cryptoRpc.creditUsd),
  };
}

/** The calls that send transactions. Refuses: INVALID_REQUEST with every transaction that cannot be sent. */
async function sentBy(
  { calls, settings, isList }: Pick<RpcPlan, 'calls' | 'settings' | 'isList'>,
  { strings }: JsonText,
): Promise<SendCall[]> {
  const { family } = settings;
  const found: SendCall[] = [];
  const issues: { code: 'custom'; path: (string | number)[]; message: string }[] = [];
  for (const [index, call] of calls.entries()) {
    const { method } = call;
    if (!sends(family, method)) continue;
    const body = await strings.bytesOf(bodyOf([call]));
    const { params } = boundedJson(Buffer.concat(body).toString()) as { readonly params?: unknown };
    try {
      found.push({ ...transactionOf(settings, method, params), index, family, method, body });
    } catch (error) {
      if (!(error instanceof FaultyTransaction)) throw error;
      const path = [...(isList ? [index] : []), 'params', ...error.path];
      issues.push({ code: 'custom', path, message: `${method}: ${error.message}` });
    }
  }
  if (issues.length > 0) throw invalidRequest(issues);
  return found;
}

/** The most credits that a request costs. */
export const creditsAtMost = ({ calls }: RpcPlan): number =>
  calls.reduce((sum, { credits }) => sum + credits, 0);

/** What credits cost: before the calls, the amount to hold; afterwards, the charge. */
export function creditLines({ network, creditNano }: RpcPlan, credits: number): ChargeLine[] {
  if (credits === 0) return [];
  const price = {
    sku: `crypto-rpc-${network}`,
    unit: 'credit' as const,
    priceNanoPerMillion: creditNano * MILLION,
  };
  return [chargeLine(price, credits)];
}
