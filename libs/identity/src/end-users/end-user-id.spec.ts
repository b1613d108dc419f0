import { describe, expect, it } from 'vitest';
import { endUserId, endUserName, namedEndUser } from './end-user-id.js';

const KEY = 'a5e1f0b2-2f0c-4d0e-9a55-0c8c7f6f0e2f';

describe('the id of an end user', () => {
  it.each(['alice', '\0', 'a\0b', '\ud800', '\u{1f600}', '../*', "'; --", 'x'.repeat(1_000_000)])(
    'is short plain text whatever the name, and another one with another key',
    (name) => {
      const id = endUserId(KEY, name);
      expect(id).toMatch(/^eu_[\w-]{22}$/);
      expect(endUserId(KEY, name)).toBe(id);
      expect(endUserId(`${KEY}1`, name)).not.toBe(id);
    },
  );

  it.each([
    ['alice', 'Alice'],
    ['alice', 'alice '],
    ['\0', '\0\0'],
    ['\u00fc', 'u\u0308'],
    ['x'.repeat(1_000_000), 'x'.repeat(999_999)],
  ])('differs for names that differ', (name, other) => {
    expect(endUserId(KEY, name)).not.toBe(endUserId(KEY, other));
  });

  it('is found by the name and by itself, but a request that names it is that of somebody else', () => {
    const id = endUserId(KEY, 'alice');
    expect(namedEndUser({ userKey: KEY }, 'alice')).toBe(id);
    expect(namedEndUser({ userKey: KEY }, id)).toBe(id);
    expect(endUserId(KEY, id)).not.toBe(id);
  });
});

describe('the name of an end user', () => {
  it.each([
    ['carol', { user: 'alice', safety_identifier: 'bob' }, 'carol'],
    [undefined, { user: 'alice', safety_identifier: 'bob', metadata: { user_id: 'dan' } }, 'bob'],
    [undefined, { user: 'alice', metadata: { user_id: 'dan' } }, 'alice'],
    ['', { user: '', metadata: { user_id: 'dan' } }, 'dan'],
    [['carol', 'bob'], { user: 'alice' }, 'alice'],
    [undefined, { user: 7, safety_identifier: null, metadata: 'dan' }, undefined],
    [undefined, { user: ['alice'], metadata: { user_id: { toString: 'dan' } } }, undefined],
    [undefined, undefined, undefined],
    [undefined, 'user', undefined],
    [undefined, ['alice'], undefined],
  ])('in the header %j and the body %j is %s', (header, body, name) => {
    expect(endUserName(header, body)).toBe(name);
  });
});
