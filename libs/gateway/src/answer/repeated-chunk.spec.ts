import type { ChunkStream, SvcParametersEcho } from '@svc/contracts';
import { repeats } from '@svc/testing';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { Answer } from './answer.js';
import { AnswerNormaliser } from './normaliser.js';
import { ChunkRepetition, RepeatedChunk } from './repeated-chunk.js';
import { StreamedForm } from './streamed-form.js';

const GOES_ON = { finish_reason: null, stop_reason: undefined };
const HEAD = '{"id":"x","object":"chat.completion.chunk","created":1,"model":"theirs","choices":';
const plain = (json: string): string =>
  `${HEAD}[{"index":0,"delta":{"content":"${json}"},"logprobs":null,"finish_reason":null}]}`;

/** A form that gets every chunk as pieces. */
class PiecesOnly extends StreamedForm {
  override get repeating(): undefined {
    return undefined;
  }
}

/** What a client gets of a stream of these chunks, what was counted, and how it ended. */
async function delivered(chunks: readonly string[], Form: typeof StreamedForm): Promise<unknown> {
  const normaliser = new AnswerNormaliser({
    saying: 'delta',
    thinking: { strip: false, startsInside: false },
    tokenizer: undefined,
  });
  let frames = '';
  const write = (text: string): undefined => void (frames += text);
  const writer = { isGone: false, begin: () => undefined, write, end: write };
  const about = { id: 'c', model: 'm', parameters: {} as SvcParametersEcho, usageApart: false };
  const form = new Form(writer, normaliser, about);
  async function* bytes(): AsyncGenerator<readonly Uint8Array[]> {
    await Promise.resolve();
    for (const chunk of [...chunks, '[DONE]']) yield [Buffer.from(`data: ${chunk}\n\n`)];
  }
  const source: ChunkStream = { backend: 'b', retries: 0, bytes: bytes() };
  const answer = new Answer({ source, normaliser, hold: undefined, form, idleTimeoutMs: 60_000 });
  const ending = await answer.deliver();
  const { meter, received, reported } = normaliser;
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
      fc.asyncProperty(stream, async (chunks) => {
        const chunksWithStart = [plain('a'), ...chunks];
        expect(await delivered(chunksWithStart, StreamedForm)).toEqual(
          await delivered(chunksWithStart, PiecesOnly),
        );
      }),
      { numRuns: repeats('FUZZ') },
    );
  });

  it('are recognised from the second on that has a text and no role', () => {
    const repetition = new ChunkRepetition();
    const piece = { index: 0, delta: { content: 'a' }, logprobs: null, ...GOES_ON };
    expect(repetition.read(plain('a'))).toBeUndefined();
    repetition.learn(plain('a'), [piece]);
    expect(repetition.read(plain('b'))).toMatchObject({ value: 'b', json: 'b' });
    expect(repetition.read(plain('\\u00e9"'))).toBeUndefined();
    expect(repetition.read(plain('\\u00e9\\n'))).toMatchObject({ value: 'é\n', json: 'é\\n' });
    expect(repetition.read(plain('","role":"user'))).toBeUndefined();
    expect(repetition.read(plain('b').replace('null', '"stop"'))).toBeUndefined();
  });

  it('are looked for ever less often in a stream whose chunks all differ', () => {
    const learning = vi.spyOn(RepeatedChunk, 'of');
    const repetition = new ChunkRepetition();
    const piece = { index: 0, delta: { content: 'a' }, logprobs: null, ...GOES_ON };
    for (let at = 0; at < 1_000; at += 1) {
      const chunk = plain('a').replace('"x"', `"${at}"`);
      expect(repetition.read(chunk)).toBeUndefined();
      repetition.learn(chunk, [piece]);
    }
    expect(learning.mock.calls.length).toBeLessThan(30);
    learning.mockRestore();
  });
});
