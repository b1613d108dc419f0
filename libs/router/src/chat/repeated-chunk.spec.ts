import type { AroundText } from '@svc/contracts/inference';
import { describe, expect, it, vi } from 'vitest';
import { ChunkRepetition, RepeatedChunk } from './repeated-chunk.js';

const GOES_ON = { finish_reason: null, stop_reason: undefined };
const HEAD = '{"id":"x","object":"chat.completion.chunk","created":1,"model":"theirs","choices":';
const plain = (json: string): string =>
  `${HEAD}[{"index":0,"delta":{"content":"${json}"},"logprobs":null,"finish_reason":null}]}`;
const around = (): AroundText => ['', ''];

describe('chunks that repeat an earlier one', () => {
  it('are recognised from the second on that has a text and no role', () => {
    const repetition = new ChunkRepetition({ received: 0 });
    const piece = { index: 0, delta: { content: 'a' }, logprobs: null, ...GOES_ON };
    expect(repetition.read(plain('a'))).toBeUndefined();
    repetition.learn(plain('a'), [piece], around);
    expect(repetition.read(plain('b'))).toMatchObject({ value: 'b', json: 'b' });
    expect(repetition.read(plain('\\u00e9"'))).toBeUndefined();
    expect(repetition.read(plain('\\u00e9\\n'))).toMatchObject({ value: 'é\n', json: 'é\\n' });
    expect(repetition.read(plain('","role":"user'))).toBeUndefined();
    expect(repetition.read(plain('b').replace('null', '"stop"'))).toBeUndefined();
  });

  it('are looked for ever less often in a stream whose chunks all differ', () => {
    const learning = vi.spyOn(RepeatedChunk, 'of');
    const repetition = new ChunkRepetition({ received: 0 });
    const piece = { index: 0, delta: { content: 'a' }, logprobs: null, ...GOES_ON };
    for (let at = 0; at < 1_000; at += 1) {
      const chunk = plain('a').replace('"x"', `"${at}"`);
      expect(repetition.read(chunk)).toBeUndefined();
      repetition.learn(chunk, [piece], around);
    }
    expect(learning.mock.calls.length).toBeLessThan(30);
    learning.mockRestore();
  });
});
