import { QUERY_CHARACTERS } from '@svc/contracts/ports';
import { describe, expect, it } from 'vitest';
import { queryIn, searchTool } from './search-tool.js';

describe('searchTool', () => {
  it('has a name that differs from every tool of the request and its earlier calls', () => {
    const name = (request: object): string => searchTool(request as never).function.name;
    const named = (each: string) => ({ type: 'function', function: { name: each } });
    expect(name({ messages: [] })).toBe('web_search');
    expect(name({ messages: [], tools: [{ type: 'web_search' }] })).toBe('web_search');
    expect(name({ messages: [], tools: [named('web_search')] })).toBe('web_search_2');
    const flat = { type: 'function', name: 'web_search' };
    const custom = { type: 'custom', custom: { name: 'web_search_3' } };
    const called = [{ role: 'assistant', tool_calls: [named('web_search_2')] }];
    expect(name({ messages: called, tools: [flat, custom] })).toBe('web_search_4');
  });
});

describe('queryIn', () => {
  it.each([
    ['{"query":"a b"}', 'a b'],
    ['{"query":" a\\n\\u0000 b ","more":1}', 'a b'],
    ['{"query":"東京"}', '東京'],
    ['{"query":""}', undefined],
    ['{"query":" ?! "}', undefined],
    ['{"query":["a"]}', undefined],
    ['{"q":"a"}', undefined],
    ['"a"', undefined],
    ['null', undefined],
    ['{"query":"a', undefined],
    ['', undefined],
  ])('reads from %s the query %s', (text, query) => {
    expect(queryIn(text)).toBe(query);
  });

  it('truncates the query to the maximum length', () => {
    const query = queryIn(JSON.stringify({ query: `${'a'.repeat(QUERY_CHARACTERS - 1)}😀` }));
    expect(query?.length).toBeLessThanOrEqual(QUERY_CHARACTERS);
    expect(query?.isWellFormed()).toBe(true);
  });
});
