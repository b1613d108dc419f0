import { Backend } from '@svc/contracts/catalog';
import type { Fields } from '@svc/contracts/inference';
import { repeats } from '@svc/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CHAT_FORMS, type FormOfBackend } from '../../test/chat-forms.js';
import { type ChatForm, LINE, type Utterance, type TrueCounts, fieldsIn } from '../../test/chat-form.js';
import {
  type ReadMessage,
  callsIn,
  countsFor,
  pricedUsage,
  readStream,
  readWhole,
} from '../../test/read-form.js';
import { DIALECTS, dialectOf } from './dialects.js';

/** Of tests that repeat. */
const LONG = { timeout: 3_600_000 };

const COUNTS: TrueCounts = { fresh: 3, read: 40, written: 420, writtenForHour: 80, reasoning: 6, output: 14 };
const UTTERANCE: Utterance = {
  thoughts: [{ text: '**The** 🌦.', signature: 'EqQB==' }],
  text: 'I look. "é"',
  calls: [
    { id: 'call_1', name: 'weather', input: { city: 'Ås', n: [1, null] }, signature: 'CiQB==' },
    { id: 'call_2', name: 'now', input: {}, signature: 'CiQC==' },
  ],
};

const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }).map((text) => `x${text}x`);
const secret = fc.base64String({ minLength: 4, maxLength: 40 }).filter((text) => text !== '');
const value = fc.oneof(
  words,
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
);
const key = fc.constantFrom('a', 'b', 'ü', 'type', 'text');
const input = fc.dictionary(key, fc.oneof(value, fc.array(value), fc.dictionary(key, value)), {
  noNullPrototype: true,
});
const call = fc.record({
  name: fc.constantFrom('look', 'get_goal', 'a-b'),
  input,
  signature: secret,
  result: words,
});
const image = fc.record({ type: fc.constantFrom('image/png', 'image/jpeg'), data: secret });
const turn = fc.record({
  user: fc.array(fc.oneof(words, image), { minLength: 1, maxLength: 3 }),
  thoughts: fc.array(fc.record({ text: words, signature: secret }), { maxLength: 1 }),
  text: words,
  calls: fc.array(call, { maxLength: 3 }),
  cut: fc.nat(),
  isStream: fc.boolean(),
});
const counts = fc.record({
  fresh: fc.integer({ min: 1, max: 2_000_000 }),
  read: fc.nat(2_000_000),
  written: fc.nat(1_000_000),
  writtenForHour: fc.nat(1_000_000),
  reasoning: fc.nat(100_000),
  output: fc.integer({ min: 1, max: 100_000 }),
});

type Turn = typeof turn extends fc.Arbitrary<infer Value> ? Value : never;

const contentOf = (parts: Turn['user']): Fields[] =>
  parts.map((part) =>
    typeof part === 'string'
      ? { type: 'text', text: part }
      : { type: 'image_url', image_url: { url: `data:${part.type};base64,${part.data}` } },
  );

const userLines = (parts: Turn['user']): string[] =>
  parts.map((part) =>
    typeof part === 'string' ? LINE.text('user', part) : LINE.image(part.type, part.data),
  );

/** The lines of what a model has said, and of the results of its calls, in a later request. */
function laterLines({ has }: ChatForm, utterance: Utterance, results: readonly string[]): string[] {
  return [
    ...(has.signedThoughts
      ? utterance.thoughts.map(({ text, signature }) => LINE.thought(text, signature))
      : []),
    LINE.text('assistant', utterance.text),
    ...utterance.calls.map((each) =>
      LINE.call({
        ...each,
        input: JSON.parse(JSON.stringify(each.input)) as unknown,
        id: has.ids ? each.id : '',
        signature: has.signedCalls ? each.signature : '',
      }),
    ),
    ...utterance.calls.map(({ id, name }, at) => LINE.result(has.ids ? id : name, results[at])),
  ];
}

const dialectAt = ({ backend }: FormOfBackend) => dialectOf(Backend.parse({ model: 'x', ...backend }));

/** The request of a conversation in the form of its backend. */
function requested(row: FormOfBackend, messages: readonly Fields[]): Fields {
  const body = [Buffer.from(JSON.stringify({ messages, max_tokens: 99 }))];
  const { body: written = [] } = dialectAt(row).chat?.request({ model: 'x' }, body, false) ?? {};
  return JSON.parse(Buffer.concat(written).toString()) as Fields;
}

it('every kind of backend with chats has its form here', () => {
  const kinds = Object.entries(DIALECTS).flatMap(([kind, { chat }]) => (chat ? [kind] : []));
  const rows = new Set(Object.values(CHAT_FORMS).map(({ backend }) => backend.kind));
  expect([...rows].toSorted()).toEqual(kinds.toSorted());
});

describe.each(Object.entries(CHAT_FORMS))('a chat with %s', (_name, row) => {
  const { form } = row;
  const { kind } = row.backend;

  it('says the same whole and streamed, wherever the bytes are split', async () => {
    const own = countsFor(form, COUNTS);
    const usage = form.usage(own);
    const bytes = form.stream(UTTERANCE, usage);
    const whole = await readWhole(kind, form.whole(UTTERANCE, usage));
    const all = { ...whole, message: { ...whole.message, tool_calls: callsIn(whole.message) } };
    const call_ids = form.has.ids
      ? UTTERANCE.calls.map(({ id }) => id)
      : all.message.tool_calls.map(({ id }) => id);
    expect(all).toMatchObject({
      message: {
        content: UTTERANCE.text,
        reasoning_content: UTTERANCE.thoughts[0]?.text,
        tool_calls: UTTERANCE.calls.map(({ name, input: given }, at) => ({
          id: call_ids[at],
          name,
          input: given,
        })),
      },
      ends: ['stop'],
      usage: pricedUsage(own),
    });
    const known = JSON.stringify(unnamed(whole, form));
    const splits = Array.from({ length: bytes.length - 1 }, (_, at) => [
      bytes.subarray(0, at + 1),
      bytes.subarray(at + 1),
    ]);
    for (const parts of [...splits, Array.from(bytes, (byte) => Buffer.from([byte]))])
      expect(JSON.stringify(unnamed(await readStream(kind, parts), form))).toBe(known);
  });

  it(
    'loses nothing of a conversation: neither texts, arguments, signatures and images nor usage',
    LONG,
    async () => {
      const property = fc.asyncProperty(
        fc.option(words),
        fc.array(turn, { minLength: 1, maxLength: 3 }),
        counts,
        async (system, turns, tokens) => {
          const messages: Fields[] = system === null ? [] : [{ role: 'system', content: system }];
          const lines = system === null ? [] : [LINE.system(system)];
          const own = countsFor(form, tokens);
          for (const [round, { user, text, thoughts, calls, cut, isStream }] of turns.entries()) {
            const utterance = {
              text,
              thoughts,
              calls: calls.map((each, at) => ({ ...each, id: `call_${round}_${at}` })),
            };
            const usage = form.usage(own);
            const bytes = form.stream(utterance, usage);
            const at = cut % bytes.length;
            const read = isStream
              ? await readStream(kind, [bytes.subarray(0, at), bytes.subarray(at)])
              : await readWhole(kind, form.whole(utterance, usage));
            expect(read.usage).toMatchObject(pricedUsage(own));
            expect(read.message['reasoning_content'] ?? '').toBe(thoughts.map((each) => each.text).join(''));
            messages.push({ role: 'user', content: contentOf(user) }, read.message);
            const made = callsIn(read.message);
            for (const [place, { result }] of calls.entries())
              messages.push({ role: 'tool', tool_call_id: made[place]?.id, content: result });
            const results = calls.map(({ result }) => result);
            lines.push(...userLines(user), ...laterLines(form, utterance, results));
          }
          messages.push({ role: 'user', content: 'Go on.' });
          expect(form.lines(requested(row, messages))).toEqual([...lines, LINE.text('user', 'Go on.')]);
        },
      );
      await fc.assert(property, { numRuns: repeats('HOSTED_CONVERSATIONS') });
    },
  );
});

/** What was read, without ids that are made here. */
function unnamed({ message, ends, usage }: ReadMessage, { has }: ChatForm): object {
  const calls = fieldsIn(message['tool_calls']).map(({ id, ...others }) =>
    has.ids ? { id, ...others } : others,
  );
  return {
    ends,
    usage,
    message: Object.entries({ ...message, tool_calls: calls }).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  };
}
