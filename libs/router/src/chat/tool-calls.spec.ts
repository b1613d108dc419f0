import { describe, expect, it } from 'vitest';
import { ToolCallStream, wholeToolCalls } from './tool-calls.js';

interface Fragment {
  index?: number;
  id?: string;
  type?: string;
  function?: { name?: string; arguments?: unknown };
}

/** The client's view of each call: all ids, types and names that were sent, and the joined arguments. */
function gather(fragments: readonly Fragment[]): unknown[] {
  const stream = new ToolCallStream();
  const shaped = fragments.flatMap((fragment) => stream.shape([fragment])) as Fragment[];
  const indexes = [...new Set(shaped.map(({ index }) => index))];
  return indexes.map((index) => {
    const mine = shaped.filter((fragment) => fragment.index === index);
    const defined = (values: readonly unknown[]) => values.filter((value) => value !== undefined);
    return {
      index,
      id: defined(mine.map(({ id }) => id)),
      type: defined(mine.map(({ type }) => type)),
      name: defined(mine.map((fragment) => fragment.function?.name)),
      arguments: mine.map((fragment) => (fragment.function?.arguments as string | undefined) ?? '').join(''),
      isFirstWhole: typeof mine[0]?.function?.arguments === 'string',
    };
  });
}

/** Calls whose id, type and name were each sent once, id and type with the first fragment. */
const known = (calls: readonly ReturnType<typeof call>[]) =>
  calls.map(({ id, type, function: called }, index) => ({
    index,
    id: [id],
    type: [type],
    name: [called.name],
    arguments: called.arguments,
    isFirstWhole: true,
  }));

const call = (id: unknown, name: string, text: string) => ({
  id,
  type: 'function',
  function: { name, arguments: text },
});

describe('ToolCallStream', () => {
  it.each<[string, Fragment[], ReturnType<typeof call>[]]>([
    [
      'fragments in the format of the contract',
      [
        { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } },
        { index: 0, function: { arguments: '{"x"' } },
        { index: 1, id: 'b', type: 'function', function: { name: 'g', arguments: '' } },
        { index: 0, function: { arguments: ':1}' } },
        { index: 1, function: { arguments: '{}' } },
      ],
      [call('a', 'f', '{"x":1}'), call('b', 'g', '{}')],
    ],
    [
      'repeated id, type and name',
      [
        { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '{' } },
        { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '}' } },
      ],
      [call('a', 'f', '{}')],
    ],
    [
      'another id on each fragment',
      [
        { index: 0, id: 'a', function: { name: 'f', arguments: '{' } },
        { index: 0, id: 'b', function: { arguments: '}' } },
      ],
      [call('a', 'f', '{}')],
    ],
    [
      'no type, no id and no arguments',
      [
        { index: 0, function: { name: 'f' } },
        { index: 0, function: { arguments: '{}' } },
      ],
      [call(expect.stringMatching(/^call_[0-9a-f]{24}$/), 'f', '{}')],
    ],
    [
      'no index',
      [
        { id: 'a', function: { name: 'f', arguments: '{' } },
        { function: { arguments: '}' } },
        { id: 'b', function: { name: 'f', arguments: '{}' } },
        { id: 'a', function: { arguments: ' ' } },
      ],
      [call('a', 'f', '{} '), call('b', 'f', '{}')],
    ],
    [
      'one index for several calls',
      [
        { index: 0, id: 'a', function: { name: 'f', arguments: '{}' } },
        { index: 0, id: 'b', function: { name: 'f', arguments: '{"x":1}' } },
        { index: 0, function: { name: 'g', arguments: '{}' } },
      ],
      [call('a', 'f', '{}'), call('b', 'f', '{"x":1}'), call(expect.any(String), 'g', '{}')],
    ],
    [
      'indexes that start at one',
      [{ index: 1, id: 'a', function: { name: 'f', arguments: '{}' } }],
      [call('a', 'f', '{}')],
    ],
    [
      'a name that comes after the id',
      [
        { index: 0, id: 'a', type: 'function' },
        { index: 0, function: { name: 'f', arguments: '{}' } },
      ],
      [call('a', 'f', '{}')],
    ],
    [
      'an index that counts the fragments',
      [
        { index: 0, id: 'a', function: { name: 'f', arguments: '' } },
        { index: 1, function: { arguments: '{"x"' } },
        { index: 2, id: '', function: { name: '', arguments: ':1}' } },
        { index: 3, id: 'b', function: { name: 'g', arguments: '{' } },
        { index: 4, id: 'b', function: { arguments: '}' } },
      ],
      [call('a', 'f', '{"x":1}'), call('b', 'g', '{}')],
    ],
    [
      'arguments as an object',
      [{ index: 0, id: 'a', function: { name: 'f', arguments: { x: [1] } } }],
      [call('a', 'f', '{"x":[1]}')],
    ],
  ])('assembles complete calls from %s', (_, fragments, calls) => {
    expect(gather(fragments)).toEqual(known(calls));
  });

  it('passes unknown members through', () => {
    const extra_content = { google: { thought_signature: 'abc=' } };
    const stream = new ToolCallStream();
    expect(stream.shape([{ index: 0, id: 'a', function: { name: 'f' }, extra_content }])).toMatchObject([
      { extra_content },
    ]);
  });
});

describe('wholeToolCalls', () => {
  it('gives every call an id, a type, a name and arguments as text', () => {
    const given = [
      { index: 3, function: { name: 'f', arguments: { a: 1 } } },
      { id: 'x', type: 'function', function: { name: 'g' } },
    ];
    const whole = [call(expect.stringMatching(/^call_/), 'f', '{"a":1}'), call('x', 'g', '{}')];
    expect(wholeToolCalls(given, false)).toEqual(whole);
    expect(wholeToolCalls(given, true)).toEqual([whole[0], call('x', 'g', '')]);
  });
});

describe('a backend that sends too many calls', () => {
  it('is rejected, however it numbers them', () => {
    const calls = (of: (at: number) => Fragment): Fragment[] =>
      Array.from({ length: 1_025 }, (_, at) => of(at));
    for (const of of [
      (at: number) => ({ id: `c${at}` }),
      (at: number) => ({ index: at, function: { name: 'f' } }),
      (at: number) => ({ function: { name: `f${at}` } }),
    ]) {
      const stream = new ToolCallStream();
      expect(stream.shape(calls(of).slice(1)).length).toBe(1_024);
      expect(() => new ToolCallStream().shape(calls(of))).toThrow(
        expect.objectContaining({ code: 'INFERENCE_FAILED' }),
      );
    }
  });
});
