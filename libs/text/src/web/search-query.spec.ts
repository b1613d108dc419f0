import { ChatRequest } from '@svc/api/chat';
import { describe, expect, it } from 'vitest';
import { searchQuery } from './search-query.js';

const queryOf = (...messages: readonly (readonly [role: string, content: unknown])[]): string | undefined =>
  searchQuery(
    ChatRequest.parse({ model: 'm', messages: messages.map(([role, content]) => ({ role, content })) })
      .messages,
  );

describe('searchQuery', () => {
  it('uses a complete question unchanged', () => {
    const question = 'Who won the mens marathon at the Olympic Games in Paris in 2024?';
    expect(queryOf(['user', 'Tell me about Kipchoge'], ['user', question])).toBe(question);
  });

  it('extends a short question with distinctive words of the conversation, the latest first', () => {
    const query = queryOf(
      ['system', 'You are Marvin'],
      ['user', 'Tell me about the Eiffel Tower'],
      ['assistant', 'It was built for the World Fair of 1889.'],
      ['user', 'how tall is it?'],
    );
    expect(query).toBe('how tall is it? World Fair 1889 Eiffel Tower');
  });

  it('removes code, URLs and markup', () => {
    expect(queryOf(['user', 'Why **does** https://a.example/x?y fail\n```js\nsecret()\n```'])).toBe(
      'Why does fail',
    );
  });

  it('uses the last question of a long message, or else its beginning, within 400 characters', () => {
    const text = 'The report says a lot of things. '.repeat(40);
    expect(queryOf(['user', `${text}What is the population of Graz in 2025?`])).toBe(
      'What is the population of Graz in 2025?',
    );
    const cut = queryOf(['user', text]) ?? '';
    expect(cut.length).toBeLessThanOrEqual(400);
    expect(text.startsWith(cut)).toBe(true);
  });

  it('supports scripts without spaces, and content in parts', () => {
    expect(queryOf(['user', [{ type: 'text', text: '東京の人口は？' }]])).toBe('東京の人口は？');
  });

  it('returns undefined without words', () => {
    expect(queryOf(['system', 'hello'])).toBeUndefined();
    expect(queryOf(['user', '?! https://a.example'])).toBeUndefined();
  });
});
