import type { Message } from '@svc/api/chat';
import { repeats } from '@svc/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { strictFault } from '@svc/testing';
import { listPart, partOf } from '@svc/paid/json';
import { forTemplates } from '@svc/text/request';
import { InputMessages } from './input-messages.js';
import { encodedSignatures } from './signatures.js';

const messagesOf = (items: readonly object[]): Message[] =>
  listPart(InputMessages.of(partOf(items)).map(({ message }) => message)).value as Message[];

const user = (content: string) => ({ role: 'user', content });
const developer = (content: string) => ({ role: 'developer', content });
const text = (content: string) => ({
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text: content }],
});
const thought = (content: string, signed: object = {}) => ({
  type: 'reasoning',
  summary: [],
  content: content === '' ? [] : [{ type: 'reasoning_text', text: content }],
  encrypted_content: encodedSignatures(signed as Record<string, unknown>),
});
const call = (id: string, text = '{}') => ({
  type: 'function_call',
  call_id: id,
  name: 'f',
  arguments: text,
});
const output = (id: string, text = `result of ${id}`) => ({
  type: 'function_call_output',
  call_id: id,
  output: text,
});
const search = { type: 'web_search_call', id: 'ws_1', status: 'completed' };

const assistant = (ids: readonly string[], more: object = {}) => ({
  role: 'assistant',
  ...more,
  tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } })),
});
const tool = (id: string, content = `result of ${id}`) => ({ role: 'tool', tool_call_id: id, content });
const image = { type: 'input_image', image_url: 'data:image/png;base64,AAAA' };

describe('the messages of an input', () => {
  it.each<[string, object[], object[]]>([
    [
      'an instruction between a call and its output comes after the output',
      [user('x'), call('c1'), developer('hook'), output('c1', 'one')],
      [user('x'), assistant(['c1']), tool('c1', 'one'), developer('hook')],
    ],
    [
      'texts and reasoning between calls belong to the message with all calls',
      [
        user('x'),
        thought('r'),
        text('a'),
        call('c1'),
        thought('s'),
        text('b'),
        call('c2'),
        output('c2'),
        output('c1'),
      ],
      [
        user('x'),
        assistant(['c1', 'c2'], { reasoning_content: 'r\n\ns', content: 'a\n\nb' }),
        tool('c1'),
        tool('c2'),
      ],
    ],
    [
      'a message of the client between parallel calls comes after their outputs',
      [call('c1'), user('y'), call('c2'), output('c1'), developer('z'), output('c2'), user('w')],
      [assistant(['c1', 'c2']), tool('c1'), tool('c2'), user('y'), developer('z'), user('w')],
    ],
    [
      'calls after an output are the next turn',
      [call('c1'), output('c1'), thought('s'), call('c2'), output('c2')],
      [assistant(['c1']), tool('c1'), assistant(['c2'], { reasoning_content: 's' }), tool('c2')],
    ],
    [
      'a call without an output gets one',
      [call('c1'), user('y'), call('c2'), call('c3'), output('c3')],
      [
        assistant(['c1']),
        tool('c1', 'The call has no output.'),
        user('y'),
        assistant(['c2', 'c3']),
        tool('c2', 'The call has no output.'),
        tool('c3'),
      ],
    ],
    [
      'an output without a call gets one',
      [user('x'), output('c9')],
      [
        user('x'),
        {
          role: 'assistant',
          tool_calls: [{ id: 'c9', type: 'function', function: { name: 'unknown_tool', arguments: '{}' } }],
        },
        tool('c9'),
      ],
    ],
    [
      'repeated calls and outputs are left out',
      [call('c1'), call('c1'), output('c1'), output('c1'), user('y'), output('c1')],
      [assistant(['c1']), tool('c1'), user('y')],
    ],
    [
      'ids that return in each turn belong to the calls of their turn',
      [call('0'), output('0', 'one'), text('a'), user('y'), call('0'), output('0', 'two')],
      [
        assistant(['0']),
        tool('0', 'one'),
        { role: 'assistant', content: 'a' },
        user('y'),
        assistant(['0']),
        tool('0', 'two'),
      ],
    ],
    [
      'the output of this service, sent back, is one message, with all signatures',
      [
        user('x'),
        search,
        thought('r', { reasoning_details: [{ type: 'a' }] }),
        text('a'),
        thought('', { reasoning_details: [{ type: 'b' }], thought_signature: 's' }),
        call('c1'),
        output('c1'),
      ],
      [
        user('x'),
        assistant(['c1'], {
          reasoning_content: 'r',
          content: 'a',
          reasoning_details: [{ type: 'a' }, { type: 'b' }],
          thought_signature: 's',
        }),
        tool('c1'),
      ],
    ],
    [
      'the media of outputs are in the next message of the user',
      [call('c1'), { ...output('c1'), output: [image] }, user('y')],
      [
        assistant(['c1']),
        tool('c1', 'The output follows in the next message.'),
        {
          role: 'user',
          content: [
            { type: 'image_url', image_url: { url: image.image_url } },
            { type: 'text', text: 'y' },
          ],
        },
      ],
    ],
  ])('have the order of strict servers: %s', (_rule, items, expected) => {
    expect(messagesOf(items)).toEqual(expected);
  });

  const word = fc.stringMatching(/^[a-z]{8}$/);
  const id = fc.constantFrom('c1', 'c2', 'c3');
  const item = fc.oneof(
    word.map(user),
    word.map(developer),
    word.map((content) => ({ role: 'system', content })),
    word.map(text),
    word.map((content) => thought(content)),
    id.map((each) => call(each)),
    id.map((each) => call(each)),
    id.map((each) => output(each)),
    id.map((each) => output(each)),
    fc.tuple(id, word).map(([each, argument]) => call(each, JSON.stringify({ argument }))),
    id.map((each) => ({ ...output(each), output: [image] })),
    fc.constant(search),
  );

  it('satisfy a strict server, whatever the order of the items, and lose no text', () => {
    fc.assert(
      fc.property(fc.array(item, { minLength: 1, maxLength: 12 }), (items) => {
        const parts = InputMessages.of(partOf(items)).map(({ message }) => message);
        const rules = { lateSystem: false, nullContent: true, isEncrypted: false };
        const sent = listPart(forTemplates(parts, rules));
        expect(strictFault(sent.value as Message[])).toBeUndefined();
        for (const content of JSON.stringify(items).match(/"[a-z]{8}"/g) ?? [])
          expect(sent.text).toContain(content.slice(1, -1));
      }),
      { numRuns: 5 * repeats('FUZZ') },
    );
  });

  const turn = fc
    .record({
      question: fc.array(fc.oneof(word.map(user), word.map(developer)), { minLength: 1, maxLength: 2 }),
      steps: fc.array(
        fc.record({
          before: fc.subarray([thought('r'), text('a')]),
          ids: fc.subarray(['c1', 'c2', 'c3'], { minLength: 1 }),
        }),
        { maxLength: 2 },
      ),
      hook: fc.option(word.map(developer)),
      answer: fc.array(
        fc.oneof(
          word.map(text),
          word.map((content) => thought(content)),
        ),
        { minLength: 1, maxLength: 2 },
      ),
    })
    .map(({ question, steps, hook, answer }) => ({
      prompts: [
        question,
        ...steps.map(({ before, ids }) => [
          ...before,
          ...ids.map((each) => call(each)),
          ...(hook ? [hook] : []),
          ...ids.toReversed().map((each) => output(each)),
        ]),
      ],
      answer,
    }));

  it('begin in the same way in every turn of a conversation, so that prompt caches keep working', () => {
    fc.assert(
      fc.property(fc.array(turn, { minLength: 1, maxLength: 4 }), (turns) => {
        const items: object[] = [];
        let before: Message[] = [];
        for (const { prompts, answer } of turns) {
          for (const prompt of prompts) {
            items.push(...prompt);
            const now = messagesOf(items);
            expect(now.slice(0, before.length)).toEqual(before);
            before = now;
          }
          items.push(...answer);
        }
      }),
      { numRuns: repeats('FUZZ') },
    );
  });
});
