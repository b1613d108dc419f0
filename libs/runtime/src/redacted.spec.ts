import { describe, expect, it } from 'vitest';
import { redacted } from './redacted.js';

describe('what is logged of a neighbour', () => {
  it.each([
    ['CUDA out of memory. Tried to allocate 2 GiB', 'CUDA out of memory. Tried to allocate 2 GiB'],
    ['see https://vllm.internal:8000/v1?key=a and go', 'see … and go'],
    ['upstream 10.0.0.17:8000 refused', 'upstream … refused'],
    ['connect to vllm-7.prod.svc.cluster.local:8000 failed', 'connect to … failed'],
    ['connect to vllm:8000 failed', 'connect to … failed'],
    ['connect to [fd00::17]:8000 failed', 'connect to … failed'],
    ['Incorrect API key provided: sk-live-a1b2c3d4e5f6.', 'Incorrect API key provided: ….'],
    ['Authorization: Bearer abc', 'Authorization: …'],
    ['token 5f4dcc3b5aa765d61d8327deb882cf99 expired', 'token … expired'],
    ['failed at "my name is Ada" here', 'failed at … here'],
    ["failed at 'my name", 'failed at …'],
    ['got имя', 'got …'],
    ['a\r\nfake log line\u0000', 'a fake log line…'],
  ])('has no address, key or quotation in it: %j', (text, clean) => {
    expect(redacted(text, [])).toBe(clean);
  });

  it('has nothing in it of what the neighbour was sent', () => {
    const said = JSON.stringify({ messages: [{ content: 'my name is Ada Lovelace and I am ill' }] });
    const sent = [Buffer.from(said.slice(0, 40)), Buffer.from(said.slice(40))];
    expect(redacted('could not answer my name is Ada Lovelace, sorry', sent)).toBe(
      'could not answer …, sorry',
    );
    expect(redacted('I am ill or I am well', sent)).toBe('I am ill or I am well');
  });

  it('is short, and nothing where too much was sent to compare', () => {
    expect(redacted('word '.repeat(10_000), []).length).toBeLessThanOrEqual(160);
    expect(redacted('anything', [Buffer.alloc(65_537)])).toBe('…');
  });

  it('takes time in proportion to its length, whatever the neighbour writes', () => {
    const time = (text: string): number => {
      let least = Number.POSITIVE_INFINITY;
      for (let round = 0; round < 20; round += 1) {
        const startMs = performance.now();
        redacted(text, []);
        least = Math.min(least, performance.now() - startMs);
      }
      return least;
    };
    for (const part of ['ab', ':', '::', 'a.', 'a-', '"', '[', '1.1', 'a:', '_', 'z1'])
      expect(time(part.repeat(396 / part.length))).toBeLessThan(time(part.repeat(40 / part.length)) * 40);
  });
});
