import type { ChatRequest } from '@svc/api/chat';
import { describe, expect, it } from 'vitest';
import { needsSearch } from './search-need.js';

const now = new Date('2026-11-21T00:00:00Z');
const needs = (content: string): boolean =>
  needsSearch(
    [
      { role: 'user', content: 'What is the news today?' },
      { role: 'user', content },
    ] as ChatRequest['messages'],
    now,
  );

describe('needsSearch', () => {
  it.each([
    'What is the latest version of Node?',
    'weather in Graz',
    'Who won the election in 2026?',
    'What came out in 2025?',
    'Please look it up.',
    'Was gibt es heute Neues?',
    'Quelles sont les actualités?',
    '¿Qué pasó hoy?',
    'Какие сегодня новости?',
    '今日のニュースは？',
    '오늘 날씨 어때?',
    'ما هي الأخبار',
  ])('returns true for %s', (content) => {
    expect(needs(content)).toBe(true);
  });

  it.each([
    'What is the capital of France?',
    'Write a poem about the sea',
    'What happened in 1848?',
    'Todays is no word',
    'add 2026345 and 1',
    'Fix this:\n```js\nconst latest = today();\n```',
    `Summarise: ${'the latest news '.repeat(200)}`,
    '',
  ])('returns false for %s', (content) => {
    expect(needs(content)).toBe(false);
  });
});
