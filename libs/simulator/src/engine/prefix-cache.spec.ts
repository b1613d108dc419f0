import { expect, test } from 'vitest';
import { parseChatRequest } from '../request/chat-request.js';
import { PrefixCache } from './prefix-cache.js';
import { measurePrompt } from '../request/prompt.js';
import type { Prompt } from '../request/prompt.js';

/** A prompt of exactly `tokens` tokens: a message costs three and each 'a.' two. */
function promptOf(tokens: number, ending = '', model = 'm'): Prompt {
  const content = ('.'.repeat(tokens - 3 - ending.length) + ending).slice(0, tokens - 3);
  return measurePrompt(
    parseChatRequest(JSON.stringify({ model, messages: [{ role: 'user', content }] })),
    model,
  );
}

test('the prompt has exactly the tokens of its text and its template', () => {
  expect(promptOf(200).tokens).toBe(200);
  expect(promptOf(200).blocks).toHaveLength(3);
});

test('nothing is cached before it was written, and then every whole block without the last token', () => {
  const cache = new PrefixCache(100, 64);
  expect(cache.cachedTokens(promptOf(200))).toBe(0);
  expect(cache.write(promptOf(200))).toBe(192);
  expect(cache.cachedTokens(promptOf(200))).toBe(192);
  expect(cache.write(promptOf(200))).toBe(0);
  expect(cache.cachedTokens(promptOf(192))).toBe(128);
});

test('a prompt that differs in its second block shares only the first', () => {
  const cache = new PrefixCache(100, 64);
  cache.write(promptOf(128));
  expect(cache.cachedTokens(promptOf(129, '!!'))).toBe(64);
});

test('models share nothing', () => {
  const cache = new PrefixCache(100, 64);
  cache.write(promptOf(200, '', 'm'));
  expect(cache.cachedTokens(promptOf(200, '', 'other'))).toBe(0);
});

test('fewer tokens than the minimum count as none', () => {
  const cache = new PrefixCache(100, 128);
  cache.write(promptOf(200));
  expect(cache.cachedTokens(promptOf(100))).toBe(0);
  expect(cache.cachedTokens(promptOf(150))).toBe(128);
});

test('beyond its capacity the cache drops the least recently used blocks, ends of prompts first', () => {
  const cache = new PrefixCache(4, 64);
  cache.write(promptOf(200, '', 'a'));
  cache.write(promptOf(200, '', 'b'));
  expect(cache.cachedTokens(promptOf(200, '', 'b'))).toBe(192);
  expect(cache.cachedTokens(promptOf(200, '', 'a'))).toBe(64);
});
