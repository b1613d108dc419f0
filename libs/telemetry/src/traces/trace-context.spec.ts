import { describe, expect, it } from 'vitest';
import { newSpanId, readTraceparent, samplerOf, traceparentOf } from './trace-context.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

describe('traceparent', () => {
  it('survives a round trip', () => {
    const text = `00-${TRACE}-${SPAN}-01`;
    const span = readTraceparent(text);
    expect(span).toEqual({ traceId: TRACE, spanId: SPAN, isSampled: true });
    expect(span && traceparentOf(span)).toBe(text);
    expect(readTraceparent(`00-${TRACE}-${SPAN}-02`)?.isSampled).toBe(false);
  });

  it('of a later version is read as far as it is known', () => {
    expect(readTraceparent(`01-${TRACE}-${SPAN}-01-more`)?.traceId).toBe(TRACE);
  });

  it.each([
    undefined,
    '',
    [`00-${TRACE}-${SPAN}-01`, `00-${TRACE}-${SPAN}-01`],
    `ff-${TRACE}-${SPAN}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE}-${SPAN}-01-more`,
    `00-${TRACE}-${SPAN}-1`,
    ` 00-${TRACE}-${SPAN}-01`,
    `01-${TRACE}-${SPAN}-01-${'a'.repeat(10_000)}`,
  ])('is ignored if invalid: %s', (text) => {
    expect(readTraceparent(text)).toBeUndefined();
  });
});

describe('sampling', () => {
  const ids = Array.from({ length: 20_000 }, () => `${'0'.repeat(16)}${newSpanId()}`);

  it('takes its share, and a larger share includes every trace of a smaller one', () => {
    const [few, many] = [samplerOf(0.1), samplerOf(0.5)];
    const taken = ids.filter(few);
    expect(taken.length / ids.length).toBeCloseTo(0.1, 1);
    expect(taken.every(many)).toBe(true);
    expect(ids.filter(samplerOf(1))).toHaveLength(ids.length);
    expect(ids.filter(samplerOf(0))).toHaveLength(0);
  });

  it('never draws an id twice', () => {
    expect(new Set(ids).size).toBe(ids.length);
  });
});
