import { jsonElements, jsonMembers } from '../json/json-members.js';

const MESSAGE_CHARS = 500;
const DATA_CHARS = 65_536;

/** What a node answered to one call: the JSON text of its result or of its error. */
export type NodeAnswer =
  | { readonly result: string }
  | {
      readonly error: string;
      /** Whether it is an error of the gateway's, which costs nothing. */
      readonly isFree?: true;
    };

/**
 * The answers of a node to calls with the ids from 0, by these. Answers to anything else are left out, and
 * of two answers to the same call the first counts. Throws if the text is not JSON.
 */
export function nodeAnswers(text: string, count: number): Map<number, NodeAnswer> {
  const parsed: unknown = JSON.parse(text);
  const isList = Array.isArray(parsed);
  const items: unknown[] = isList ? parsed : [parsed];
  const texts = isList ? jsonElements(text) : [text];
  const answers = new Map<number, NodeAnswer>();
  for (const [index, item] of items.entries()) {
    if (typeof item !== 'object' || item === null || !('id' in item)) continue;
    const { id } = item;
    if (typeof id !== 'number' || !Number.isInteger(id) || id < 0 || id >= count || answers.has(id)) continue;
    const answer = answerOf(jsonMembers(texts[index] ?? '{}'));
    if (answer) answers.set(id, answer);
  }
  return answers;
}

/** Errors that concern the node rather than the call: too much to do, or a fault of its own. */
const OF_THE_NODE = /^\{"code":-32(?:005|603),/;

/** Whether another node may have a better answer. */
export const isWeak = (answer: NodeAnswer | undefined): boolean =>
  answer === undefined || ('error' in answer && OF_THE_NODE.test(answer.error));

function answerOf(members: ReadonlyMap<string, string>): NodeAnswer | undefined {
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
