import { ChatRequest } from '@svc/api/chat';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isCiphertext, plainBytes } from './ciphertext.js';
import { estimatePromptTokens } from './tokens.js';

/** A text of the size that the ciphertext of another has. */
const sealed = (text: string): string =>
  text === '' ? '' : `04${'5a'.repeat(92 + Buffer.byteLength(text))}`;

const messages = fc.array(
  fc.record({
    role: fc.constantFrom('system', 'user', 'assistant'),
    content: fc.string({ unit: 'grapheme' }),
  }),
  { minLength: 1, maxLength: 8 },
);

describe('a ciphertext', () => {
  it('counts as the bytes that it contains', () => {
    for (const text of ['', 'a', 'naïve', '🙂'.repeat(100)])
      expect(plainBytes(sealed(text))).toBe(Buffer.byteLength(text));
    expect(plainBytes('plain tëxt')).toBe(11);
  });

  it.each([
    ['', false],
    ['04'.repeat(92), false],
    ['04'.repeat(93), true],
    ['04'.repeat(93).slice(0, -1), false],
    [`${'04'.repeat(93)}zz`, false],
    ['05'.repeat(93), false],
    [`04${'AB'.repeat(92)}`, true],
  ])('has the form %s: %s', (text, is) => {
    expect(isCiphertext(text)).toBe(is);
  });

  it('of ten million bytes is recognized', () => {
    expect(plainBytes(sealed('x'.repeat(10_000_000)))).toBe(10_000_000);
  });
});

describe('the estimate of an encrypted prompt', () => {
  it('is that of the same prompt in plaintext', () => {
    fc.assert(
      fc.property(messages, (plain) => {
        const requestOf = (list: object[]): ChatRequest => ChatRequest.parse({ model: 'm', messages: list });
        const encrypted = plain.map(({ role, content }) => ({ role, content: sealed(content) }));
        expect(estimatePromptTokens(requestOf(encrypted), plainBytes)).toBe(
          estimatePromptTokens(requestOf(plain)),
        );
      }),
    );
  });
});
