import { ChatRequest } from '@svc/api/chat';
import { LongStrings } from '@svc/runtime';
import { describe, expect, it } from 'vitest';
import { affinityKey, sessionOf } from './affinity.js';

const LONG = 'You are an assistant with many rules. '.repeat(40);

interface Asked {
  readonly system?: string;
  readonly user?: string;
  readonly accountId?: string;
  readonly session?: string;
  readonly members?: object;
  readonly backends?: readonly { readonly eachAddress?: boolean }[];
  readonly isEncrypted?: boolean;
}

function keyOf({ system, user = 'Hello', members, ...from }: Asked): string | undefined {
  const messages = [
    ...(system === undefined ? [] : [{ role: 'system', content: system }]),
    { role: 'user', content: user },
    { role: 'assistant', content: 'Hi' },
    { role: 'user', content: String(Math.random()) },
  ];
  return affinityKey(ChatRequest.parse({ model: 'm', messages, ...members }), {
    accountId: 'account',
    session: undefined,
    strings: new LongStrings(),
    isEncrypted: false,
    backends: [{}, {}],
    ...from,
  });
}

describe('the key of a conversation', () => {
  it('is what the client names: its key, then its session in the body, then in a header', () => {
    const members = { prompt_cache_key: 'key', session_id: 'body' };
    expect(keyOf({ members, session: 'header' })).toBe('key');
    expect(keyOf({ members: { session_id: 'body' }, session: 'header' })).toBe('body');
    expect(keyOf({ session: 'header' })).toBe('header');
  });

  it('is otherwise the same for each turn, and another for another account or beginning', () => {
    const key = keyOf({ system: 'Be brief', user: 'One' });
    expect(key).toMatch(/^[\w-]{22}$/);
    expect(keyOf({ system: 'Be brief', user: 'One' })).toBe(key);
    expect(keyOf({ system: 'Be brief', user: 'One', accountId: 'other' })).not.toBe(key);
    expect(keyOf({ system: 'Be brief', user: 'Two' })).not.toBe(key);
    expect(keyOf({ system: 'Be long', user: 'One' })).not.toBe(key);
  });

  it('is the same for all conversations with the same long system message', () => {
    expect(keyOf({ system: LONG, user: 'One' })).toBe(keyOf({ system: LONG, user: 'Two' }));
  });

  it('does not exist without a choice, nor for ciphertexts without a name', () => {
    expect(keyOf({ backends: [{}], members: { prompt_cache_key: 'key' } })).toBeUndefined();
    expect(keyOf({ backends: [{ eachAddress: true }] })).toBeDefined();
    expect(keyOf({ isEncrypted: true })).toBeUndefined();
    expect(keyOf({ isEncrypted: true, session: 'header' })).toBe('header');
  });
});

it('a session is the first of its headers that has a value', () => {
  expect(sessionOf({ 'x-session-affinity': 'two' })).toBe('two');
  expect(sessionOf({ 'x-session-id': 'one', 'x-session-affinity': 'two' })).toBe('one');
  expect(sessionOf({ 'x-session-id': '' })).toBeUndefined();
});
