import type { Message } from '@svc/api/chat';
import { repeats } from '@svc/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { alternates, strictFault } from '@svc/testing';
import { elementsOf, listPart } from '@svc/paid/json';
import { type TemplateRules, followsRules, forTemplates, templateRules } from './template-roles.js';

const STRICT: TemplateRules = { lateSystem: false, nullContent: true, isEncrypted: false };

function sentFor(messages: readonly object[], rules = STRICT, text = JSON.stringify(messages)) {
  const sent = listPart(forTemplates(elementsOf({ value: messages, text }), rules));
  // The text is what a backend gets.
  expect(JSON.parse(sent.text)).toEqual(sent.value);
  return { messages: sent.value as Message[], text: sent.text };
}

const system = (content: unknown) => ({ role: 'system', content });
const developer = (content: unknown) => ({ role: 'developer', content });
const user = (content: unknown) => ({ role: 'user', content });
const assistant = (content: unknown) => ({ role: 'assistant', content });
const calls = (...ids: string[]) => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } })),
});
const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: `result of ${id}` });
const marked = (text: string) => `<system_message>\n${text}\n</system_message>`;
const part = (text: string, more: object = {}) => ({ type: 'text', text, ...more });

describe('the messages for chat templates', () => {
  it.each<[string, object[], object[]]>([
    ['one system message', [system('a'), user('b')], [system('a'), user('b')]],
    ['a developer message', [developer('a'), user('b')], [system('a'), user('b')]],
    [
      'several leading system and developer messages',
      [system('a'), developer('b'), system([part('c')]), system('')],
      [system([part('a'), part('b'), part('c')])],
    ],
    ['leading texts', [developer('a'), system('b'), user('c')], [system('a\n\nb'), user('c')]],
    [
      'a late one before a user message',
      [user('a'), assistant('b'), system('late'), user('c')],
      [user('a'), assistant('b'), user(`${marked('late')}\n\nc`)],
    ],
    [
      'a late one after a user message',
      [user('a'), developer('late'), assistant('b')],
      [user(`a\n\n${marked('late')}`), assistant('b')],
    ],
    [
      'several between user messages',
      [user('a'), system('x'), developer('y'), user('b'), system('z')],
      [user(`a\n\n${marked('x')}\n\n${marked('y')}\n\nb\n\n${marked('z')}`)],
    ],
    [
      'a late one without a user message next to it',
      [user('a'), assistant('b'), system('late'), assistant('c')],
      [user('a'), assistant('b'), user(marked('late')), assistant('c')],
    ],
    [
      'those between calls and their results',
      [user('a'), calls('c', 'd'), system('x'), result('c'), developer('y'), result('d'), user('b')],
      [user('a'), calls('c', 'd'), result('c'), result('d'), user(`${marked('x')}\n\n${marked('y')}\n\nb`)],
    ],
    [
      'parts, which keep their marks for caches',
      [user([part('a')]), system([part('late', { cache_control: { type: 'ephemeral' } })])],
      [
        user([
          part('a'),
          part('<system_message>'),
          part('late', { cache_control: { type: 'ephemeral' } }),
          part('</system_message>'),
        ]),
      ],
    ],
    ['empty late ones', [user('a'), system(''), developer([]), user('b')], [user('a'), user('b')]],
    [
      'another speaker after a late one',
      [{ ...user('a'), name: 'ann' }, system('x'), { ...user('b'), name: 'bob' }],
      [
        { ...user(`a\n\n${marked('x')}`), name: 'ann' },
        { ...user('b'), name: 'bob' },
      ],
    ],
    ["a client's own neighbouring messages", [user('a'), user('b')], [user('a'), user('b')]],
  ])('have %s', (_what, messages, expected) => {
    expect(sentFor(messages).messages).toEqual(expected);
  });

  it('keep late system messages in their place for templates that accept them, but not before results', () => {
    const messages = [user('a'), calls('c'), developer('x'), result('c'), system('y'), user('b')];
    const sent = sentFor(messages, { ...STRICT, lateSystem: true }).messages;
    expect(sent).toEqual([user('a'), calls('c'), result('c'), system('x'), system('y'), user('b')]);
  });

  it('keep the bytes of their texts', () => {
    const texts = ['"\\u00e9\\/a"', '"b\\ud83d\\ude00"', '"\\"c"'];
    const [a, b, c] = texts.map((text) => `{"role":"user","content":${text}}`);
    const late = `${b}`.replace('user', 'system');
    const text = `[${a},${late},${c}]`;
    const { text: sent } = sentFor(JSON.parse(text) as object[], STRICT, text);
    for (const each of texts) expect(sent).toContain(each.slice(1, -1));
  });

  it('are only given the role system if they are encrypted, since ciphertexts can be neither joined nor marked', () => {
    const messages = [developer('04ab'), system('04cd'), user('04ef'), developer('0412'), user('')];
    const sent = sentFor(messages, { ...STRICT, isEncrypted: true }).messages;
    expect(sent).toEqual([system('04ab'), system('04cd'), user('04ef'), system('0412'), user('')]);
  });

  it('have no null beside calls for servers that refuse it', () => {
    const { content: _, ...without } = calls('c');
    const rules = { ...STRICT, nullContent: false };
    expect(sentFor([user('a'), calls('c'), result('c')], rules).messages).toEqual([
      user('a'),
      without,
      result('c'),
    ]);
    expect(followsRules([calls('c')] as Message[], rules)).toBe(false);
    expect(followsRules([calls('c')] as Message[], STRICT)).toBe(true);
  });

  it('are the same for all backends of a model, as the least of them requires', () => {
    const able = { kind: 'openai', lateSystemMessages: true } as const;
    expect(templateRules([able, able], false)).toMatchObject({ lateSystem: true, nullContent: true });
    expect(templateRules([able, { kind: 'llama-cpp-python' }], false)).toMatchObject({
      lateSystem: false,
      nullContent: false,
    });
  });
});

/** Random turns of a conversation: a user message, then responses with calls and their results. */
const texts = fc.stringMatching(/^[a-z]{1,6}$/);
const instructions = fc.array(fc.tuple(fc.constantFrom('system', 'developer'), texts), { maxLength: 2 });
const turn = fc
  .record({
    before: instructions,
    question: texts,
    after: instructions,
    called: fc.array(fc.record({ count: fc.integer({ min: 1, max: 3 }), between: instructions }), {
      maxLength: 2,
    }),
    answer: texts,
  })
  .map(({ before, question, after, called, answer }) => {
    const asMessages = (list: readonly (readonly [string, string])[]): object[] =>
      list.map(([role, content]) => ({ role, content }));
    const steps = called.map(({ count, between }) => {
      const ids = Array.from({ length: count }, (_, at) => `c${at}`);
      const results = ids.map(result);
      return [calls(...ids), ...results.slice(0, 1), ...asMessages(between), ...results.slice(1)];
    });
    return {
      prompt: [...asMessages(before), user(question), ...asMessages(after)],
      steps,
      answer: assistant(answer),
    };
  });

describe('random conversations for chat templates', () => {
  it('satisfy a strict server, alternate, lose no text, and begin as they began one turn before', () => {
    fc.assert(
      fc.property(fc.array(turn, { minLength: 1, maxLength: 5 }), (turns) => {
        const prompts: object[][] = [];
        const messages: object[] = [];
        for (const { prompt, steps, answer } of turns) {
          messages.push(...prompt);
          prompts.push([...messages]);
          for (const step of steps) {
            messages.push(...step);
            prompts.push([...messages]);
          }
          messages.push(answer);
        }
        const sent = prompts.map((prompt) => sentFor(prompt).messages);
        for (const [at, each] of sent.entries()) {
          expect(strictFault(each)).toBeUndefined();
          expect(followsRules(each, STRICT)).toBe(true);
          const given = prompts[at] as { content: string | null }[];
          const all = each.map(textOf).join('\n');
          for (const { content } of given) expect(all).toContain(content ?? '');
          expect(all.match(/<system_message>/g)?.length ?? 0).toBeLessThanOrEqual(given.length);
          // The last message of a prompt may grow; everything before it stays.
          const next = sent[at + 1];
          if (!next) continue;
          expect(next.slice(0, each.length - 1)).toEqual(each.slice(0, -1));
          const [last, grown] = [each.at(-1), next[each.length - 1]];
          expect(textOf(grown).startsWith(textOf(last))).toBe(true);
        }
        const hasCalls = turns.some(({ steps }) => steps.length > 0);
        expect(hasCalls || sent.every(alternates)).toBe(true);
      }),
      { numRuns: repeats('FUZZ') },
    );
  });
});

const textOf = (message: Message | undefined): string =>
  typeof message?.content === 'string' ? message.content : '';
