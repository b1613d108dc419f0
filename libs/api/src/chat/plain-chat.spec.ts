import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CHARS, ITEMS } from './chat-bounds.js';
import { ChatRequest } from './chat-request.js';
import { isPlainChat } from './plain-chat.js';

const PLAIN = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };

const text = fc.oneof(
  fc.string(),
  fc.constantFrom('', 'x'.repeat(CHARS.id), 'x'.repeat(CHARS.id + 1), 'x'.repeat(CHARS.id * 2 + 1)),
);
const number = fc.constantFrom(0, -0, 1, 1.5, 2, 2.5, -1, 2 ** 53 - 1, 2 ** 53, -(2 ** 53), 1e300, NaN);
const other = fc.constantFrom(null, [], {}, true, false, 'x', 1);
const some = fc.oneof(text, number, other);

const message = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ role: 'user', content: 'hi' }) },
  fc.record(
    {
      role: fc.constantFrom('user', 'assistant', 'system', 'developer', 'tool', 'bot', 1),
      content: fc.oneof(text, other),
      name: some,
      extra: some,
      tool_call_id: text,
    },
    { requiredKeys: [] },
  ),
  other,
);

/** Requests near the border of what is plain. */
const request = fc.oneof(
  fc.record(
    {
      model: fc.oneof({ weight: 5, arbitrary: fc.constant('m') }, some),
      messages: fc.oneof({ weight: 5, arbitrary: fc.array(message, { maxLength: 4 }) }, other),
      temperature: some,
      top_p: some,
      max_tokens: some,
      max_completion_tokens: some,
      stream: some,
      stream_options: fc.oneof(
        other,
        fc.record({ include_usage: some, include_obfuscation: some, more: some }, { requiredKeys: [] }),
      ),
      user: some,
      tools: other,
      unknown: some,
    },
    { requiredKeys: [] },
  ),
  other,
);

describe('a plain chat', () => {
  it('is only what the schema accepts and returns unchanged', () => {
    let plain = 0;
    fc.assert(
      fc.property(request, (fields) => {
        // Most of them have what is required.
        for (const value of [fields, typeof fields === 'object' && { ...PLAIN, ...fields }]) {
          if (!isPlainChat(value)) continue;
          plain += 1;
          expect(ChatRequest.parse(value)).toEqual(value);
        }
      }),
      { numRuns: 3_000 },
    );
    expect(plain).toBeGreaterThan(0);
  });

  it.each([
    PLAIN,
    { ...PLAIN, stream: true, stream_options: { include_usage: true }, temperature: 0.7, max_tokens: 5 },
    { ...PLAIN, stream: false, top_p: 1, max_completion_tokens: 0, user: 'u' },
  ])('is recognised: %j', (value) => {
    expect(isPlainChat(value)).toBe(true);
  });

  it.each([
    null,
    [PLAIN],
    {},
    { ...PLAIN, messages: [] },
    { ...PLAIN, messages: Array.from({ length: ITEMS.messages + 1 }, () => PLAIN.messages[0]) },
    { ...PLAIN, stream_options: { include_usage: true } },
    { ...PLAIN, messages: [{ role: 'user', content: 'hi', secret: 1 }] },
    JSON.parse('{"model":"m","messages":[{"role":"user","content":"hi"}],"__proto__":{"tools":5}}'),
    { ...PLAIN, n: 1 },
  ] as unknown[])('is left to the schema otherwise (%#)', (value) => {
    expect(isPlainChat(value)).toBe(false);
  });
});
