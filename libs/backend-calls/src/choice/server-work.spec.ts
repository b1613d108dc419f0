import { describe, expect, it } from 'vitest';
import { hashOf } from '@svc/runtime';
import { promptOf } from './prompt.js';
import { NO_WORK, type CallWork, ServerWork, uncachedTokens } from './server-work.js';

const bodyOf = (text: string): Uint8Array[] => [
  Buffer.from(`{"temperature":0,"messages":[{"role":"user","content":"${text}"}]}`),
];

const TEXT = 'All that is known. '.repeat(600);

const workOf = (text: string, salt = 1): CallWork => ({ ...NO_WORK, ...promptOf(bodyOf(text), salt) });

describe('the blocks of a prompt', () => {
  it('are the same for the same beginning of the messages, whatever options come before', () => {
    const [one, two] = [promptOf(bodyOf(`${TEXT} one`), 1), promptOf(bodyOf(`${TEXT} two`), 1)];
    const other = promptOf([Buffer.from('{"seed":5,'), Buffer.from('"messages":[]}')], 1);
    expect(one.blocks.subarray(0, -1)).toEqual(two.blocks.subarray(0, -1));
    expect(one.blocks.length).toBe(Math.floor((TEXT.length + 41) / 512));
    expect(other.blocks.length).toBe(0);
  });

  it('are others for another account, and do not depend on how the body is cut', () => {
    const [body] = bodyOf(TEXT) as [Uint8Array];
    const whole = promptOf([body], 1);
    expect(promptOf([body.subarray(0, 999), body.subarray(999)], 1)).toEqual(whole);
    expect(promptOf([body], 2).blocks.some((block) => whole.blocks.includes(block))).toBe(false);
  });

  it('are at most those of the first 64 KiB', () => {
    const { blocks, tokens } = promptOf(bodyOf('x'.repeat(400_000)), 1);
    expect(blocks.length).toBe(128);
    expect(tokens).toBeGreaterThan(100_000);
  });
});

describe('the work of a server', () => {
  it('is what its calls without a first byte have not cached', () => {
    const server = new ServerWork();
    const work = workOf(TEXT);
    const call = server.begin(work, 0);
    expect(server.ahead(0)).toBe(work.tokens);
    expect(uncachedTokens(work, server.knownBlocks(work))).toBe(0);
    server.answered(call, 500);
    server.ended(call);
    expect(server.ahead(500)).toBe(0);
  });

  it('passes with time for a call that begins to respond only at its end', () => {
    const server = new ServerWork();
    server.expected = { speed: 2, leastMs: 0 };
    const work = { ...workOf(TEXT), isSilent: true };
    server.begin(work, 0);
    expect(server.ahead(100)).toBe(work.tokens - 200);
    expect(server.ahead(1e6)).toBe(0);
  });

  it('is computed at the speed that was measured, of which a slow call changes more than a fast one', () => {
    const [slow, fast] = [new ServerWork(), new ServerWork()];
    for (const [server, ms] of [
      [slow, 1_000],
      [fast, 10],
    ] as const)
      for (let at = 0; at < 20; at += 1) {
        server.expected = { speed: 8, leastMs: 0 };
        server.answered(server.begin(workOf(`${at} ${TEXT}`), at), at + ms);
      }
    expect(slow.speed(8, 1_000)).toBeLessThan(4);
    expect(fast.speed(8, 1_000)).toBeGreaterThan(12);
    expect(slow.speed(8, 1e6)).toBeCloseTo(8);
  });

  it('is all of a prompt again once the server may have been started again', () => {
    const server = new ServerWork();
    const work = workOf(TEXT);
    server.begin(work, 0);
    server.forget();
    expect(server.knownBlocks(work)).toBe(0);
  });
});

describe('the reports of a server', () => {
  it('are the share of cached tokens among the latest', () => {
    const server = new ServerWork();
    expect(server.hitShare).toBeUndefined();
    const call = server.begin(workOf(TEXT), 0);
    server.reported(call, { all: 1_000, cached: 0 });
    server.reported(call, { all: 1_000, cached: 600 });
    expect(server.hitShare).toBeCloseTo(0.3);
    server.reported(call, { all: 2_000_000, cached: 2_000_000 });
    expect(server.hitShare).toBe(1);
  });

  it('of a server without a cache make that nothing is expected to be there', () => {
    const server = new ServerWork();
    const work = workOf(TEXT);
    for (let at = 0; at < 200; at += 1)
      server.reported(server.begin(work, at), { all: work.tokens, cached: 0 });
    expect(server.knownBlocks(work)).toBeLessThan(4);
  });
});

it('a hash of a text depends on its beginning, its length and its seed', () => {
  expect(hashOf('a')).not.toBe(hashOf('b'));
  expect(hashOf('a', 1)).not.toBe(hashOf('a', 2));
  expect(hashOf('x'.repeat(2_000))).not.toBe(hashOf('x'.repeat(2_001)));
});
