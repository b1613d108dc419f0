import { describe, expect, it } from 'vitest';
import { newId, uuidOf } from './request-id.js';

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

describe('a request id as a UUID', () => {
  it('has the digits of the id', () => {
    const id = newId();
    expect(uuidOf(`chatcmpl-${id}`)).toMatch(UUID);
    expect(uuidOf(`chatcmpl-${id}`).replaceAll('-', '')).toBe(id);
  });

  it.each(['', 'r-1', 'not\r\na header', 'é'.repeat(1_000)])('is always the same for %j', (id) => {
    expect(uuidOf(id)).toMatch(UUID);
    expect(uuidOf(id)).toBe(uuidOf(id));
    expect(uuidOf(id)).not.toBe(uuidOf(`${id}.`));
  });
});
