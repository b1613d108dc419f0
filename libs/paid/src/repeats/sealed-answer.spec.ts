import { randomBytes, randomInt } from 'node:crypto';
import { expect, it } from 'vitest';
import { digestOf, seal, unseal } from './sealed-answer.js';

const { secret } = digestOf(['a']);
const HEAD = { status: 200, headers: { 'content-type': 'audio/mpeg' } };
const MOST = 1_048_576;

/** A piece of which only the length can be read. */
const unreadable = (length: number): Uint8Array =>
  new Proxy({} as Uint8Array, {
    get: (_target, name) => {
      if (name === 'length') return length;
      throw new Error(`${String(name)} was read`);
    },
  });

it('gives back the bytes of a response, whatever its pieces', () => {
  for (let round = 0; round < 100; round += 1) {
    const body = Array.from({ length: randomInt(5) }, () => randomBytes(randomInt(2_000)));
    const sealed = seal({ ...HEAD, body }, secret);
    expect(unseal(sealed ?? Buffer.alloc(0), secret)).toEqual({ ...HEAD, body: [Buffer.concat(body)] });
  }
});

it('stores 1 MiB, and refuses a byte more by the lengths of its pieces, without reading them', () => {
  expect(seal({ ...HEAD, body: [Buffer.alloc(MOST - 1), Buffer.alloc(1)] }, secret)).toBeDefined();
  for (const lengths of [[MOST + 1], [MOST, 1], [1, MOST], Array<number>(32).fill(MOST)])
    expect(seal({ ...HEAD, body: lengths.map(unreadable) }, secret)).toBeUndefined();
});
