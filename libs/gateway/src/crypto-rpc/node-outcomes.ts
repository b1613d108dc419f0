import { jsonElements, jsonMembers } from '../json/json-members.js';

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
 * text is not JSON.
 */
export function nodeOutcomes(text: string, count: number, isSend = false): Map<number, NodeOutcome> {
  const parsed: unknown = JSON.parse(text);
  const isList = Array.isArray(parsed);
  const items: unknown[] = isList ? parsed : [parsed];
  const texts = isList ? jsonElements(text) : [text];
  const common = isSend ? undefined : commonError(parsed, count, texts[0]);
  if (common !== undefined) return new Map(Array.from({ length: count }, (_, id) => [id, common]));
  const outcomes = new Map<number, NodeOutcome>();
  for (const [index, item] of items.entries()) {
    if (typeof item !== 'object' || item === null || !('id' in item)) continue;
    const { id } = item;
    if (typeof id !== 'number' || !Number.isInteger(id) || id < 0 || id >= count || outcomes.has(id))
      continue;
    const outcome = outcomeOf(jsonMembers(texts[index] ?? '{}'));
    if (outcome) outcomes.set(id, outcome);
  }
  return outcomes;
}

/** The error that a node sent for all calls together. */
function commonError(parsed: unknown, count: number, text = '{}'): NodeOutcome | undefined {
  const [item, ...others] = Array.isArray(parsed) ? (parsed as unknown[]) : [parsed];
  if (others.length > 0 || typeof item !== 'object' || item === null || Array.isArray(item)) return undefined;
  const isForOne = 'id' in item && item.id !== null && (Array.isArray(parsed) || count === 1);
  const outcome = isForOne ? undefined : outcomeOf(jsonMembers(text));
  return outcome && 'error' in outcome ? outcome : undefined;
}

/** Errors that concern the node rather than the call: too much to do, or a fault of its own. */
const OF_THE_NODE = /^\{"code":-32(?:005|603),/;

/** Whether another node may have a better response. */
export const isWeak = (outcome: NodeOutcome | undefined): boolean =>
  outcome === undefined || ('error' in outcome && OF_THE_NODE.test(outcome.error));

function outcomeOf(members: ReadonlyMap<string, string>): NodeOutcome | undefined {
  const error = members.get('error');
  if (error !== undefined && error !== 'null') return { error: presentableError(error) };
  const result = members.get('result');
  return result === undefined ? undefined : { result };
}

/** An error of a node without what it says about where it runs. */
function presentableError(text: string): string {
  const error: unknown = JSON.parse(text);
  const { code, message } =
    typeof error === 'object' && error !== null ? (error as Record<string, unknown>) : {};
  const data = text.startsWith('{') ? jsonMembers(text).get('data') : undefined;
  return rpcError(
    typeof code === 'number' && Number.isInteger(code) ? code : -32_603,
    typeof message === 'string' ? presentable(message) : 'The node has an error.',
    data !== undefined && data.length <= DATA_CHARS ? presentable(data, data.length) : undefined,
  );
}

/** Providers of nodes put keys into URLs, and name them in errors. */
const presentable = (text: string, chars = MESSAGE_CHARS): string =>
  text.replace(/\b(?:https?|wss?):\/\/[^\s"'\\]+/gi, '[address]').slice(0, chars);

/** An error as JSON text; `data` is such a text as well. */
export function rpcError(code: number, message: string, data?: string): string {
  const head = `{"code":${code},"message":${JSON.stringify(message)}`;
  return data === undefined ? `${head}}` : `${head},"data":${data}}`;
}
