import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countTokens, tokenize } from './tokenizer.js';

test('the joined tokens are the text, and no token splits a character', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const tokens = tokenize(text);
      expect(tokens.join('')).toBe(text);
      expect(tokens.every((token) => Buffer.from(token).toString() === token)).toBe(true);
      expect(countTokens(text)).toBe(tokens.length);
    }),
  );
});

test('a token is at most six letters or one other character, with the space before it', () => {
  expect(tokenize('Hello wonderful  world, 日本🙂!')).toEqual([
    'Hello',
    ' wonder',
    'ful',
    ' ',
    ' world',
    ',',
    ' 日',
    '本',
    '🙂',
    '!',
  ]);
});
