import { jsonOrUndefined, presentable, unescapedJson, withoutAddresses } from '@svc/runtime';
import { checkJson, jsonElements, jsonMembers, stringEnd } from '@svc/paid/json';

const MESSAGE_CHARS = 500;
const DATA_CHARS = 65_536;

/** The outcome of one call: the JSON text of its result or of its error. */
export type NodeOutcome =
  | { readonly result: string }
  | {
      readonly error: string;
      /** Whether it is an error of the gateway's, which costs nothing. */
      readonly isFree?: true;
    };

/**
 * The outcomes of calls at a node, with ids from 0, by id. Responses to anything else are left out, and of
 * two responses to the same call the first counts. An error in place of the list, or one without an id, is
 * the outcome of every call, unless they send something, since it may be about another request. Throws if the
 * text is not JSON. It is checked rather than parsed, since a node may send millions of values that only the
 * client needs.
 */
export async function nodeOutcomes(
  text: string,
  count: number,
  isSend = false,
): Promise<Map<number, NodeOutcome>> {
  await checkJson(text);
  const isList = isWrittenWith('[', text);
  const items = (isList ? jsonElements(text) : [text]).map((item) =>
    isWrittenWith('{', item) ? jsonMembers(item) : undefined,
  );
  const common = isSend ? undefined : commonError(items, isList || count === 1);
  if (common !== undefined) return new Map(Array.from({ length: count }, (_, id) => [id, common]));
  const outcomes = new Map<number, NodeOutcome>();
  for (const members of items) {
    const id = members && idIn(members);
    if (!members || id === undefined || id >= count || outcomes.has(id)) continue;
    const outcome = outcomeOf(members);
    if (outcome) outcomes.set(id, outcome);
  }
  return outcomes;
}

type Members = ReadonlyMap<string, string>;

/** Whether a JSON text is a list or an object, by its bracket. */
const isWrittenWith = (bracket: '[' | '{', text: string): boolean => text.trimStart().startsWith(bracket);

/** The id if it is one of ours, written in any way. */
function idIn(members: Members): number | undefined {
  const text = members.get('id') ?? '';
  const id = /^[\d.eE+-]{1,20}$/.test(text) ? Number(text) : Number.NaN;
  return Number.isInteger(id) && id >= 0 ? id : undefined;
}

/** The error that a node sent for all calls together. With an id, it may be about one call only. */
function commonError(
  [item, ...others]: readonly (Members | undefined)[],
  hasOwnIds: boolean,
): NodeOutcome | undefined {
  if (others.length > 0 || !item) return undefined;
  const isForOne = hasOwnIds && (item.get('id') ?? 'null') !== 'null';
  const outcome = isForOne ? undefined : outcomeOf(item);
  return outcome && 'error' in outcome ? outcome : undefined;
}

/** Errors that concern the node rather than the call: too much to do, or a fault of its own. */
const OF_THE_NODE = /^\{"code":-32(?:005|603),/;

/** Whether another node may have a better response. */
export const isWeak = (outcome: NodeOutcome | undefined): boolean =>
  outcome === undefined || ('error' in outcome && OF_THE_NODE.test(outcome.error));

function outcomeOf(members: Members): NodeOutcome | undefined {
  const error = members.get('error');
  if (error !== undefined && error !== 'null') return { error: presentableError(error) };
  const result = members.get('result');
  return result === undefined ? undefined : { result };
}

/** An error of a node without what it says about where it runs, and without keys. */
function presentableError(text: string): string {
  const error = jsonOrUndefined(text);
  const { code, message } =
    typeof error === 'object' && error !== null ? (error as Record<string, unknown>) : {};
  const data = text.startsWith('{') ? jsonMembers(text).get('data') : undefined;
  return rpcError(
    typeof code === 'number' && Number.isInteger(code) ? code : -32_603,
    (typeof message === 'string' && presentableMessage(message)) || 'The node has an error.',
    data !== undefined && data.length <= DATA_CHARS ? presentableData(data) : undefined,
  );
}

/** Hashes, addresses and amounts of chains are public, and look like keys. */
const HEX = /\b0x[0-9a-f]+\b/gi;
const PLACE = /⟦(\d{1,3})⟧/g;

function presentableMessage(message: string): string {
  const hex: string[] = [];
  const kept = withoutAddresses(message.slice(0, MESSAGE_CHARS).replace(/[⟦⟧]/g, '')).replace(
    HEX,
    (each) => `⟦${hex.push(each) - 1}⟧`,
  );
  const shown = presentable(kept, { sent: [], secrets: [], isField: () => false });
  return shown.replace(PLACE, (_, at) => hex[Number(at)] ?? '');
}

/** The JSON text of data, in which only strings that contain addresses or keys are written again. */
function presentableData(json: string): string {
  let shown = '';
  let at = 0;
  for (let quote = json.indexOf('"'); quote !== -1; quote = json.indexOf('"', at)) {
    const end = stringEnd(json, quote);
    const text = unescapedJson(json.slice(quote + 1, end - 1));
    const clean = withoutAddresses(text);
    shown += json.slice(at, quote) + (clean === text ? json.slice(quote, end) : JSON.stringify(clean));
    at = end;
  }
  return shown + json.slice(at);
}

/** An error as JSON text; `data` is such a text as well. */
export function rpcError(code: number, message: string, data?: string): string {
  const head = `{"code":${code},"message":${JSON.stringify(message)}`;
  return data === undefined ? `${head}}` : `${head},"data":${data}}`;
}
