import { setImmediate as turn } from 'node:timers/promises';
import type { StreamedBytes } from '@svc/contracts/inference';
import { Problem } from '@svc/contracts/problems';
import type { SvcParametersEcho } from '@svc/api/chat';
import { repeats } from '@svc/testing';
import { ChunkRepetition } from '@svc/router/testing';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { OutputRelay, type OutputHold } from './output-relay.js';
import { OpenAiOutput } from '../../test/openai-output.js';
import { StreamEncoder } from './stream-encoder.js';

const HEAD = '{"id":"x","object":"chat.completion.chunk","created":1,"model":"theirs","choices":';
const plain = (json: string): string =>
  `${HEAD}[{"index":0,"delta":{"content":"${json}"},"logprobs":null,"finish_reason":null}]}`;

/** A encoder that gets every chunk as pieces. */
class PiecesOnly extends StreamEncoder {
  override get repeating(): undefined {
    return undefined;
  }
}

/** Offers its parts before they are read, as a connection does while a read waits. */
class OfferedBytes implements StreamedBytes {
  private take: ((part: Buffer) => boolean) | undefined;

  constructor(private readonly parts: readonly Buffer[]) {}

  offerTo(take: (part: Buffer) => boolean): void {
    this.take = take;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<readonly Uint8Array[]> {
    await Promise.resolve();
    for (const part of this.parts) if (this.take?.(part) !== true) yield [part];
  }
}

/** How bytes arrive, and what the money of a hold and the reading of a client allow. */
interface Conditions {
  /** The length of each part; 0 for one event each. */
  readonly partBytes: number;
  readonly coveredTokens: number;
  /** After how many writes the client must read first; 0 for never. */
  readonly blocksEvery: number;
  /** How often it reads before it disconnects. */
  readonly readsAtMost: number;
}

const GOOD: Conditions = {
  partBytes: 0,
  coveredTokens: Number.POSITIVE_INFINITY,
  blocksEvery: 0,
  readsAtMost: Number.POSITIVE_INFINITY,
};

function partsOf(chunks: readonly string[], partBytes: number): Buffer[] {
  const events = [...chunks, '[DONE]'].map((chunk) => Buffer.from(`data: ${chunk}\n\n`));
  if (partBytes === 0) return events;
  const all = Buffer.concat(events);
  const parts: Buffer[] = [];
  for (let at = 0; at < all.length; at += partBytes) parts.push(all.subarray(at, at + partBytes));
  return parts;
}

/** Extends itself by one token at a time, up to what is covered. */
function holdOf(coveredTokens: number): OutputHold {
  let askAt = 2;
  return {
    refusal: new Problem('INSUFFICIENT_BALANCE'),
    isAhead: ({ tokens }) => tokens < askAt,
    hasRoomFor: (bytes, meter) => meter.tokensWith(bytes) < askAt,
    reach: async ({ tokens }) => {
      await Promise.resolve();
      askAt = tokens + 2;
      return tokens > coveredTokens ? 'out_of_money' : undefined;
    },
  };
}

/** What a client gets of a stream of these chunks, what was counted, and how it ended. */
async function delivered(
  chunks: readonly string[],
  Form: typeof StreamEncoder,
  { partBytes, coveredTokens, blocksEvery, readsAtMost } = GOOD,
): Promise<unknown> {
  const output = new OpenAiOutput({
    thinking: { strip: false, startsInside: false },
    tokenizer: undefined,
  });
  const { normaliser } = output;
  let frames = '';
  let writes = 0;
  let isBlocked = false;
  let reads = 0;
  const write = (text: string): Promise<void> | undefined => {
    expect(isBlocked).toBe(false);
    frames += text;
    writes += 1;
    if (blocksEvery === 0 || writes % blocksEvery > 0) return undefined;
    isBlocked = true;
    return turn().then(() => {
      isBlocked = false;
      reads += 1;
      writer.isGone = reads > readsAtMost;
    });
  };
  const writer = { isGone: false, begin: () => undefined, write, end: (text: string) => void write(text) };
  const about = {
    id: 'c',
    model: 'm',
    promptTokens: 0,
    parameters: {} as SvcParametersEcho,
    usageApart: false,
  };
  const encoder = new Form(writer, normaliser, about);
  const bytes = new OfferedBytes(partsOf(chunks, partBytes));
  const source = output.responseOf({ backend: 'b', retries: 0, bytes });
  const response = new OutputRelay({
    source,
    normaliser,
    hold: holdOf(coveredTokens),
    encoder,
    idleTimeoutMs: 60_000,
  });
  const ending = await response.deliver();
  const { meter } = normaliser;
  const { received, reported } = normaliser.facts;
  const counted = [meter.pieces, meter.bytes, meter.tokens, meter.tokensAtLeast, meter.deliveredTokens];
  const problem = 'problem' in ending ? String(ending.problem?.cause) : undefined;
  // The second at which a stream began is not of interest.
  return {
    frames: frames.replaceAll(/"created":\d+/g, ''),
    counted,
    received,
    reported,
    ending: ending.kind,
    problem,
  };
}

/** A text as it is written in JSON, sometimes wrongly. */
const textJson = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom(' tide', 'é', '', ' ', '\\n', '\\"', '\\u00e9', '\\ud83d', '\\/', '😀'),
  },
  { weight: 2, arbitrary: fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text).slice(1, -1)) },
  fc.constantFrom(
    '\\',
    '"',
    '\\"}',
    '\t',
    '\\x',
    '","content":"b',
    '","finish_reason":"stop',
    '"},"x":{"y":"',
    '\\\\"',
  ),
);

const member = fc.constantFrom('content', 'reasoning', 'reasoning_content', 'refusal', 'role', 'other');
const choiceRest = fc.constantFrom(
  '',
  ',"logprobs":null',
  ',"finish_reason":null',
  ',"finish_reason":"stop"',
  ',"logprobs":{"content":[]}',
  ',"stop_reason":null',
);
const rest = fc.constantFrom(
  '',
  '',
  ',"usage":null',
  ',"usage":{"prompt_tokens":3,"completion_tokens":4}',
  ',"error":null',
  ',"citations":["https://a.example"]',
  ',"choices":[]',
  ',"error":{"code":500}',
);
const before = fc.constantFrom(
  '',
  '',
  '"role":"assistant",',
  '"content":"",',
  '"content":null,',
  '"reasoning_content":null,',
  '"reasoning":"a",',
  '"content":"\\"content\\":\\"",',
);
const shape = fc.record({
  member,
  choiceRest,
  rest,
  before,
  space: fc.constantFrom('', ' '),
  index: fc.constantFrom(0, 0, 1),
});

const conditions: fc.Arbitrary<Conditions> = fc.record({
  partBytes: fc.constantFrom(0, 0, 0, 7, 400),
  coveredTokens: fc.constantFrom(Number.POSITIVE_INFINITY, 3, 6),
  blocksEvery: fc.constantFrom(0, 0, 1, 3),
  readsAtMost: fc.constantFrom(Number.POSITIVE_INFINITY, 0, 2),
});

type Shape = typeof shape extends fc.Arbitrary<infer T> ? T : never;

const chunkOf = (how: Shape, text: string): string =>
  `${HEAD}[{"index":${how.index},"delta":{${how.before}"${how.member}":${how.space}"${text}"}${how.choiceRest}}]${how.rest}}`;

/** Streams of few shapes, so that most chunks repeat the one before. */
const stream = fc
  .array(fc.tuple(shape, fc.array(textJson, { minLength: 1, maxLength: 8 })), { minLength: 1, maxLength: 6 })
  .map((runs) => runs.flatMap(([how, texts]) => texts.map((text) => chunkOf(how, text))));

describe('chunks that repeat an earlier one', () => {
  it('reach the client, and are counted, exactly as if each was parsed and converted', async () => {
    await fc.assert(
      fc.asyncProperty(stream, conditions, async (chunks, how) => {
        const chunksWithStart = [plain('a'), ...chunks];
        expect(await delivered(chunksWithStart, StreamEncoder, how)).toEqual(
          await delivered(chunksWithStart, PiecesOnly, how),
        );
      }),
      { numRuns: repeats('FUZZ') },
    );
  });

  it.each([0, 1, 2, 3, 4])(
    'are neither sent nor counted once a client disconnects that had to read first (%i reads)',
    async (readsAtMost) => {
      const chunks = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map(plain);
      const how = { ...GOOD, blocksEvery: 1, readsAtMost };
      const seen = await delivered(chunks, StreamEncoder, how);
      expect(seen).toMatchObject({ ending: 'client_gone' });
      expect(seen).toEqual(await delivered(chunks, PiecesOnly, how));
    },
  );

  it('are delivered as they arrive, without a promise, once the first was learned', async () => {
    const chunks = ['a', 'b', 'c', 'é', 'd'].map(plain);
    const offers = vi.spyOn(ChunkRepetition.prototype, 'offer');
    await delivered(chunks, StreamEncoder);
    const passed = offers.mock.results.filter(({ value }) => value === true);
    // The first is learned from, the hold is extended at some, and `é` is not ASCII.
    expect(passed.length).toBeGreaterThan(0);
    offers.mockRestore();
  });
});
