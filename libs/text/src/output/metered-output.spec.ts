import { Problem } from '@svc/contracts/problems';
import type { SvcParametersEcho } from '@svc/api/chat';
import { repeats } from '@svc/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Meter } from '../tokens/meter.js';
import { OpenAiOutput } from '../../test/openai-output.js';
import { type OutputHold, OutputRelay } from './output-relay.js';
import { StreamEncoder } from './stream-encoder.js';
import { WholeEncoder } from './whole-encoder.js';

/** Where a server puts a text in a message or delta. */
type Placing = (text: string) => object;

/** Names that a server may give to members, short enough not to count as output. */
const names = fc.oneof(
  fc.constantFrom(
    'reasoning_details',
    'thinking',
    'reasoning_text',
    'annotations',
    'audio',
    'x',
    'text',
    'data',
    '__proto__',
  ),
  fc.string({ minLength: 1, maxLength: 12 }),
);

/** A text in a member of any name at any depth. Names that mean a label or another member are left out. */
const placing: fc.Arbitrary<Placing> = fc
  .tuple(names, fc.array(fc.oneof(fc.constant(undefined), names), { maxLength: 6 }))
  .filter(([name, path]) => ![name, ...path].some((each) => each !== undefined && RESERVED.has(each)))
  .map(([name, path]) => (text) => {
    // A member without a name is the only entry of a list.
    const inner = path.reduceRight<unknown>(
      (value, each) => (each === undefined ? [value] : member(each, value)),
      text,
    );
    return member(name, inner);
  });

const RESERVED = new Set([
  'role',
  'content',
  'tool_calls',
  'function_call',
  'index',
  'type',
  'id',
  'format',
  'status',
  'call_id',
]);

/** Also for names that an object literal would set as its prototype. */
const member = (name: string, value: unknown): object => Object.fromEntries([[name, value]]);

const words = fc.array(fc.constantFrom(' tide', ' é', ' 海', 'x', ' considerable'), {
  minLength: 1,
  maxLength: 40,
});

const chunkOf = (delta: object): string =>
  JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null }] });

function newOutput(): OpenAiOutput {
  return new OpenAiOutput({ thinking: { strip: false, startsInside: false }, tokenizer: undefined });
}

/** How a client takes a stream, and how much of it its money covers. */
interface Conditions {
  readonly coveredTokens: number;
  /** After this number of writes it disconnects. */
  readonly leavesAfter: number;
  readonly isBuffered: boolean;
}

function holdOf(coveredTokens: number): OutputHold {
  return {
    refusal: new Problem('INSUFFICIENT_BALANCE'),
    isAhead: () => false,
    hasRoomFor: () => false,
    reach: ({ tokens }) => Promise.resolve(tokens > coveredTokens ? 'out_of_money' : undefined),
  };
}

/** Delivers a stream of these deltas. */
async function streamed(deltas: readonly object[], { coveredTokens, leavesAfter, isBuffered }: Conditions) {
  const output = newOutput();
  const { normaliser } = output;
  let writes = 0;
  const write = (): undefined => {
    writes += 1;
    writer.isGone = writes > leavesAfter;
  };
  const writer = {
    isGone: false,
    begin: () => undefined,
    write,
    end: () => undefined,
    send: () => Promise.resolve(),
  };
  const about = {
    id: 'c',
    model: 'm',
    promptTokens: 0,
    parameters: {} as SvcParametersEcho,
    usageApart: false,
  };
  const encoder = isBuffered
    ? new WholeEncoder(writer, normaliser, about)
    : new StreamEncoder(writer, normaliser, about);
  const bytes = (async function* () {
    await Promise.resolve();
    for (const delta of deltas) yield [Buffer.from(`data: ${chunkOf(delta)}\n\n`)];
    yield [
      Buffer.from('data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'),
    ];
  })();
  const source = output.responseOf({ backend: 'b', retries: 0, bytes });
  const hold = holdOf(coveredTokens);
  const relay = new OutputRelay({ source, normaliser, hold, encoder, idleTimeoutMs: 60_000 });
  const failed = (error: unknown) => ({ kind: String(error) });
  const ending = await Promise.resolve(relay.deliver()).catch(failed);
  return { ending: ending.kind, writes, ...countsOf(normaliser.meter) };
}

const countsOf = ({ tokens, bytes, deliveredTokens, tokensAtLeast }: Meter): object => ({
  tokens,
  bytes,
  deliveredTokens,
  tokensAtLeast,
});

const conditions: fc.Arbitrary<Conditions> = fc.record({
  coveredTokens: fc.constantFrom(Number.POSITIVE_INFINITY, 0, 3, 20),
  leavesAfter: fc.constantFrom(Number.POSITIVE_INFINITY, 1, 5),
  isBuffered: fc.boolean(),
});

describe('a text in a member of any name and depth', () => {
  it('is held for, cut off and charged in a stream exactly as content', async () => {
    await fc.assert(
      fc.asyncProperty(placing, words, conditions, async (place, texts, how) => {
        const odd = await streamed(texts.map(place), how);
        expect(odd).toEqual(
          await streamed(
            texts.map((content) => ({ content })),
            how,
          ),
        );
      }),
      { numRuns: repeats('FUZZ') },
    );
  });

  it('is charged in a whole message exactly as content', () => {
    fc.assert(
      fc.property(placing, words, (place, texts) => {
        const read = (message: object): object => {
          const output = newOutput();
          const { normaliser } = output;
          output.read(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }] }));
          normaliser.meter.deliver();
          return countsOf(normaliser.meter);
        };
        const text = texts.join('');
        expect(read(place(text))).toEqual(read({ content: text }));
      }),
      { numRuns: repeats('FUZZ') },
    );
  });
});
