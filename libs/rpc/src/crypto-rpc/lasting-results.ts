import type { RpcFamily } from '@svc/contracts/catalog';
import { boundedJson, jsonOrUndefined } from '@svc/runtime';
import { jsonMembers } from '@svc/paid/json';
import type { NodeCall } from './node-requests.js';

/**
 * When the result of a call lasts: always; once this block (on Solana this slot) is final; or once the block
 * is final that the result names.
 */
export type Lasting = 'always' | number | 'by-result';

type Rule = (params: readonly unknown[]) => Lasting | undefined;

const always: Rule = ({ length }) => (length === 0 ? 'always' : undefined);

/** The result depends on the block at this position and what came before it. */
const atBlock =
  (position: number): Rule =>
  (params) =>
    quantity(params[position]);

const byHash: Rule = () => 'by-result';

const LOG_FILTER: ReadonlySet<string> = new Set(['address', 'fromBlock', 'toBlock', 'topics']);

/** A filter lasts if both its ends are numbers. */
const byFilter: Rule = ([filter, ...others]) => {
  if (typeof filter !== 'object' || filter === null || others.length > 0) return undefined;
  if (Object.keys(filter).some((name) => !LOG_FILTER.has(name))) return undefined;
  const { fromBlock, toBlock } = filter as Readonly<Record<string, unknown>>;
  return quantity(fromBlock) === undefined ? undefined : quantity(toBlock);
};

/** On Solana, `finalized` is the default. */
const ifFinalized =
  (rule: Rule): Rule =>
  (params) => {
    const { 1: options = {}, length } = params;
    if (length > 2 || typeof options !== 'object' || options === null) return undefined;
    const { commitment = 'finalized' } = options as Readonly<Record<string, unknown>>;
    return commitment === 'finalized' ? rule(params) : undefined;
  };

const RULES: Readonly<Record<RpcFamily, ReadonlyMap<string, Rule>>> = {
  evm: new Map([
    ['eth_chainId', always],
    ['net_version', always],
    ['eth_getBlockByNumber', atBlock(0)],
    ['eth_getBlockReceipts', atBlock(0)],
    ['eth_getBlockTransactionCountByNumber', atBlock(0)],
    ['eth_getTransactionByBlockNumberAndIndex', atBlock(0)],
    ['eth_getUncleByBlockNumberAndIndex', atBlock(0)],
    ['eth_getUncleCountByBlockNumber', atBlock(0)],
    ['trace_block', atBlock(0)],
    ['trace_replayBlockTransactions', atBlock(0)],
    ['eth_call', atBlock(1)],
    ['eth_getBalance', atBlock(1)],
    ['eth_getCode', atBlock(1)],
    ['eth_getTransactionCount', atBlock(1)],
    ['eth_getProof', atBlock(2)],
    ['eth_getStorageAt', atBlock(2)],
    ['eth_getLogs', byFilter],
    ['eth_getBlockByHash', byHash],
    ['eth_getTransactionByBlockHashAndIndex', byHash],
    ['eth_getTransactionByHash', byHash],
    ['eth_getTransactionReceipt', byHash],
  ]),
  solana: new Map([
    ['getGenesisHash', always],
    ['getBlock', ifFinalized(([slot]) => (isBlock(slot) ? slot : undefined))],
    [
      'getTransaction',
      ifFinalized(([signature]) => (typeof signature === 'string' ? 'by-result' : undefined)),
    ],
  ]),
  starknet: new Map([['starknet_chainId', always]]),
};

/** The blocks of EVM that move, wherever they stand in parameters. */
const TAG = /"(?:earliest|finalized|latest|pending|safe)"/i;

/**
 * When the result of a call lasts; `undefined`: perhaps never. Methods without a rule never last, among them
 * all that send.
 */
export function lastingOf(family: RpcFamily, { method, params }: NodeCall): Lasting | undefined {
  const rule = RULES[family].get(method);
  if (!rule) return undefined;
  const read: unknown = params === undefined ? [] : boundedJson(params);
  if (!Array.isArray(read) || (family === 'evm' && TAG.test(JSON.stringify(read)))) return undefined;
  return rule(read);
}

/** A number in the only notation that all nodes read, without leading zeros. */
function quantity(text: unknown): number | undefined {
  return typeof text === 'string' && /^0x(?:0|[1-9a-f][0-9a-f]{0,12})$/i.test(text)
    ? Number(text)
    : undefined;
}

const isBlock = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

/** The largest result that is kept. */
const RESULT_CHARS = 1_048_576;

/** Results by which a node may also say that it does not know, or not yet. */
const NOTHING = /^(?:null|\[\s*\]|\{\s*\}|"(?:0x)?")$/;

/** The members with the block of what was looked up. */
const BLOCK_NAMES = ['blockNumber', 'number', 'slot'];

/** Whether a result lasts if blocks up to this one are final. */
export function lasts(lasting: Lasting, result: string, finalizedBlock: number): boolean {
  if (result.length > RESULT_CHARS || NOTHING.test(result)) return false;
  if (lasting === 'always') return true;
  const members: ReadonlyMap<string, string> = result.startsWith('{') ? jsonMembers(result) : new Map();
  // Nodes of Solana add the time some time after the block.
  if (members.get('blockTime') === 'null') return false;
  if (lasting !== 'by-result') return lasting <= finalizedBlock;
  const name = BLOCK_NAMES.find((each) => members.has(each)) ?? '';
  const named = jsonOrUndefined(members.get(name) ?? 'null');
  const block = isBlock(named) ? named : quantity(named);
  return block !== undefined && block <= finalizedBlock;
}
