import { type Fields, fieldsOf } from '@svc/contracts/inference';
import type { ResponseRequest } from '@svc/api/responses';
import { NO_USAGE } from '@svc/contracts/messages';
import type { SvcParametersEcho } from '@svc/api/chat';
import { repeats } from '@svc/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { messageDialect } from './messages/message-dialect.js';
import { type ClientDialect, chatDialect } from '@svc/text/output';
import { OpenAiOutput } from '@svc/text/testing';
import { ResponsesDialect } from './responses/responses-dialect.js';
import type { ResponseWriter } from '@svc/paid/http';

/** What a client has of a message, whatever its dialect. */
interface ShownMessage {
  readonly text: string;
  readonly thinking: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly input: unknown }[];
}

/** A piece of a message, in the order in which it must arrive among those of the same part. */
type Delta = Fields & { readonly tool_calls?: readonly Fields[] };

interface SentCall {
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

/** A message in pieces, and its calls in the order in which they begin. */
interface Sent extends ShownMessage {
  readonly chunks: readonly (readonly Delta[])[];
  readonly made: readonly SentCall[];
}

const words = fc.array(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 5 }), { maxLength: 4 });

const cut = (text: string, at: number): [string, string] => [text.slice(0, at), text.slice(at)];

const call = fc
  .record({
    name: fc.constantFrom('f', 'g'),
    input: fc.option(fc.dictionary(fc.string({ maxLength: 3 }), fc.jsonValue(), { maxKeys: 3 })),
    space: fc.constantFrom('', ' ', '\n'),
    cuts: fc.array(fc.nat(40), { maxLength: 3 }),
    /** The fragment with the name. */
    named: fc.constantFrom(0, 0, 1),
    id: fc.uuid(),
  })
  .map(({ name, input, space, cuts, named, id }) => {
    const text = input === null ? '' : `${space}${JSON.stringify(input)}${space}`;
    let rest = text;
    const pieces = cuts.map((at) => {
      const [piece, after] = cut(rest, at);
      rest = after;
      return piece;
    });
    const all = [...pieces, rest];
    const position = Math.min(named, all.length - 1);
    const fragments = all.map((piece, at) => ({
      ...(at === 0 && { id, type: 'function' }),
      function: { ...(at === position && { name }), arguments: piece },
    }));
    // Without negative zeros, which JSON has not.
    const read: unknown = JSON.parse(JSON.stringify(input ?? {}));
    return { made: { id, name, text }, fragments, input: read };
  });

/** Random interleavings of the pieces of a text, of reasoning and of calls. */
const message: fc.Arbitrary<Sent> = fc
  .record({
    texts: words,
    thoughts: words,
    calls: fc.uniqueArray(call, { minLength: 1, maxLength: 4, selector: ({ made }) => made.id }),
    order: fc.infiniteStream(fc.nat()),
    together: fc.infiniteStream(fc.boolean()),
  })
  .map(({ texts, thoughts, calls, order, together }) => {
    const parts: ((begun: Map<number, number>) => Delta)[][] = [
      texts.map((text) => () => ({ content: text })),
      thoughts.map((text) => () => ({ reasoning_content: text })),
      ...calls.map(({ fragments }, at) =>
        fragments.map((fragment) => (begun: Map<number, number>) => {
          const index = begun.get(at) ?? begun.size;
          begun.set(at, index);
          return { tool_calls: [{ index, ...fragment }] };
        }),
      ),
    ];
    const begun = new Map<number, number>();
    const chunks: Delta[][] = [];
    const left = parts.map((part) => [...part]);
    for (let open = left; open.length > 0; open = open.filter(({ length }) => length > 0)) {
      const part = open[Number(order.next().value) % open.length];
      const piece = part?.shift()?.(begun);
      if (!piece) continue;
      if (together.next().value === true && chunks.length > 0) chunks.at(-1)?.push(piece);
      else chunks.push([piece]);
    }
    const ordered = [...begun.keys()].flatMap((at) => calls[at] ?? []);
    return {
      chunks,
      made: ordered.map(({ made }) => made),
      text: texts.join(''),
      thinking: thoughts.join(''),
      calls: ordered.map(({ made: { id, name }, input }) => ({ id, name, input })),
    };
  });

/** Several deltas as one. */
function joined(deltas: readonly Delta[]): Delta {
  const textOf = (name: string): string => textIn(deltas, name);
  const calls = deltas.flatMap(({ tool_calls: each }) => each ?? []);
  return {
    content: textOf('content'),
    reasoning_content: textOf('reasoning_content'),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

const END = { usage: NO_USAGE, cost: { usdNano: 0n, diemNano: 0n }, hasOutput: true };
const ABOUT = {
  id: 'msg_1',
  model: 'm',
  promptTokens: 1,
  parameters: { web_search_citations: [] } as unknown as SvcParametersEcho,
  usageApart: true,
};

/** What a client gets: the stream of these chunks, or the document of a whole message. */
async function sentBy(
  dialect: ClientDialect,
  member: 'delta' | 'message',
  parts: readonly object[],
): Promise<string> {
  let sent = '';
  const write = (text: string): undefined => void (sent += text);
  const writer = { isGone: false, begin: () => undefined, write, end: write, send: write };
  const thinking = { strip: false, startsInside: false };
  const output = new OpenAiOutput({ thinking, tokenizer: undefined });
  const form = member === 'delta' ? dialect.streamed.bind(dialect) : dialect.whole.bind(dialect);
  const encoder = form(writer as unknown as ResponseWriter, output.normaliser, ABOUT);
  for (const each of parts) {
    encoder.add(output.read(JSON.stringify({ choices: [{ index: 0, [member]: each }] })));
    await encoder.flush();
  }
  await encoder.end({ ending: { kind: 'done' }, ...END });
  return sent;
}

const streamOf = (dialect: ClientDialect, { chunks }: Sent): Promise<string> =>
  sentBy(dialect, 'delta', chunks.map(joined));

const wholeOf = async (dialect: ClientDialect, { made, text, thinking }: Sent): Promise<Fields> =>
  JSON.parse(
    await sentBy(dialect, 'message', [
      {
        content: text,
        reasoning_content: thinking,
        tool_calls: made.map(({ id, name, text: written }) => ({
          id,
          type: 'function',
          function: { name, arguments: written },
        })),
      },
    ]),
  ) as Fields;

/** The data of the events of a stream, without its end. */
const eventsIn = (stream: string): Fields[] =>
  stream
    .split('\n')
    .filter((line) => line.startsWith('data: ') && line !== 'data: [DONE]')
    .map((line) => JSON.parse(line.slice('data: '.length)) as Fields);

const textIn = (blocks: readonly Fields[], name: string): string =>
  blocks.map(({ [name]: text }) => (typeof text === 'string' ? text : '')).join('');

describe('the stream of a message whose backend mixes the pieces of texts and calls', () => {
  const same = (check: (sent: Sent) => Promise<void>): Promise<void> =>
    fc.assert(fc.asyncProperty(message, check), { numRuns: repeats('FUZZ') });

  it('has one open block at a time on /messages, and says what the whole message says', async () => {
    const request = { thinking: { type: 'enabled', budget_tokens: 1_024 } } as never;
    const shownIn = (blocks: readonly Fields[]): ShownMessage => ({
      text: textIn(blocks, 'text'),
      thinking: textIn(blocks, 'thinking'),
      calls: blocks.flatMap(({ type, id, name, input }) =>
        type === 'tool_use' ? [{ id: String(id), name: String(name), input }] : [],
      ),
    });
    await same(async (sent) => {
      const { content } = await wholeOf(messageDialect(request, 'r'), sent);
      expect(shownIn(fieldsOf(content))).toEqual(shownOf(sent));
      const stream = await streamOf(messageDialect(request, 'r'), sent);
      expect(shownIn(messageBlocks(eventsIn(stream)))).toEqual(shownOf(sent));
    });
  });

  it('says what the whole response says on /responses, with its items in order', async () => {
    const shownIn = (items: readonly Fields[]): ShownMessage => {
      const partsOf = (type: string): Fields[] =>
        items.flatMap((item) => (item['type'] === type ? fieldsOf(item['content']) : []));
      return {
        text: textIn(partsOf('message'), 'text'),
        thinking: textIn(partsOf('reasoning'), 'text'),
        calls: items.flatMap(({ type, call_id: id, name, arguments: text }) =>
          type === 'function_call'
            ? [{ id: String(id), name: String(name), input: JSON.parse(String(text)) as unknown }]
            : [],
        ),
      };
    };
    await same(async (sent) => {
      const dialect = (): ClientDialect => new ResponsesDialect({} as ResponseRequest, 'r');
      expect(shownIn(fieldsOf((await wholeOf(dialect(), sent))['output']))).toEqual(shownOf(sent));
      const events = eventsIn(await streamOf(dialect(), sent));
      const items = responseItems(events);
      expect(shownIn(items)).toEqual(shownOf(sent));
      expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: { output: items } });
    });
  });

  it('says what the whole completion says on /chat/completions, with JSON in the arguments of each call', async () => {
    await same(async (sent) => {
      const choices = eventsIn(await streamOf(chatDialect, sent)).flatMap((each) =>
        fieldsOf(each['choices']),
      );
      const deltas = choices.map(({ delta }) => delta as Delta);
      const fragments = deltas.flatMap(({ tool_calls: each }) => fieldsOf(each));
      const indexes = new Set(fragments.map(({ index }) => index));
      const calls = [...indexes].map((at) => {
        const mine = fragments.filter(({ index }) => index === at);
        const called = mine.map((fragment) => fragment['function'] as Fields);
        const input: unknown = JSON.parse(textIn(called, 'arguments'));
        return { id: textIn(mine, 'id'), name: textIn(called, 'name'), input };
      });
      const streamed = {
        text: textIn(deltas, 'content'),
        thinking: textIn(deltas, 'reasoning_content'),
        calls,
      };
      expect(streamed).toEqual(shownOf(sent));
      const [choice] = fieldsOf((await wholeOf(chatDialect, sent))['choices']);
      expect(choice?.['message']).toMatchObject({
        tool_calls: sent.made.map(({ id, name, text }) => ({
          id,
          function: { name, arguments: text.trim() === '' ? '{}' : text },
        })),
      });
    });
  });
});

const shownOf = ({ text, thinking, calls }: Sent): ShownMessage => ({ text, thinking, calls });

/** The blocks of a message by its events. Throws if they do not follow one another. */
function messageBlocks(events: readonly Fields[]): Fields[] {
  const blocks: (Fields & { json?: string })[] = [];
  let open = false;
  for (const { type, index, content_block: begun, delta } of events) {
    if (!String(type).startsWith('content_block')) continue;
    const isStart = type === 'content_block_start';
    if (isStart === open || index !== blocks.length - (isStart ? 0 : 1))
      throw new Error(`out of order: ${String(type)} ${String(index)}`);
    if (isStart) blocks.push({ ...(begun as Fields) });
    const block = blocks.at(-1) ?? {};
    for (const [name, text] of Object.entries((delta ?? {}) as Fields)) {
      if (name === 'partial_json') block['json'] = `${String(block['json'] ?? '')}${String(text)}`;
      else if (name !== 'type') block[name] = `${String(block[name])}${String(text)}`;
    }
    if (type === 'content_block_stop' && block['json'] !== undefined)
      block['input'] = JSON.parse(String(block['json']));
    open = type !== 'content_block_stop';
  }
  if (open) throw new Error('the last block does not end');
  return blocks;
}

/** The items of a response by the events that end them. Throws if they do not begin in order. */
function responseItems(events: readonly Fields[]): Fields[] {
  const items: Fields[] = [];
  const texts = new Map<unknown, string>();
  let begun = 0;
  for (const { type, output_index: at, item, item_id: id, delta } of events) {
    if (type === 'response.output_item.added' && at !== begun++) throw new Error('an item is out of order');
    if (type === 'response.output_item.done') items[Number(at)] = item as Fields;
    if (typeof delta === 'string') texts.set(id, (texts.get(id) ?? '') + delta);
  }
  for (const { id, type, arguments: text } of items)
    if (type === 'function_call' && text !== texts.get(id))
      throw new Error('the deltas differ from the item');
  return items;
}
