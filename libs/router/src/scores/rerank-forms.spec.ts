import { BackendError } from '@svc/backend-calls';
import { describe, expect, it } from 'vitest';
import { rerankOf } from './rerank-forms.js';

const FORMS = ['openai', 'cohere', 'tei'] as const;
const read = (form: (typeof FORMS)[number], body: unknown, headers = {}) =>
  rerankOf(form).read({ body: typeof body === 'string' ? body : JSON.stringify(body), headers }, 2);

describe('a ranking', () => {
  it.each([
    [
      'vLLM',
      'openai',
      {
        id: 'rerank-1',
        model: 'm',
        usage: { prompt_tokens: 9, total_tokens: 9 },
        results: [
          { index: 1, document: { text: 'b', multi_modal: null }, relevance_score: 0.75 },
          { index: 0, document: { text: 'a', multi_modal: null }, relevance_score: 0.25 },
        ],
      },
      { promptTokens: 9 },
    ],
    [
      'infinity',
      'openai',
      {
        object: 'rerank',
        results: [
          { relevance_score: 0.75, index: 1, document: null },
          { relevance_score: 0.25, index: 0, document: null },
        ],
        model: 'm',
        usage: { prompt_tokens: 12, total_tokens: 12 },
        id: 'infinity-1',
        created: 1,
      },
      { promptTokens: 12 },
    ],
    [
      'llama.cpp',
      'openai',
      {
        model: 'm',
        object: 'list',
        usage: { prompt_tokens: 8, total_tokens: 8 },
        results: [
          { index: 0, relevance_score: 0.25 },
          { index: 1, relevance_score: 0.75 },
        ],
      },
      { promptTokens: 8 },
    ],
    [
      'a total only',
      'openai',
      {
        usage: { total_tokens: 7 },
        results: [
          { index: 0, relevance_score: 0.25 },
          { index: 1, relevance_score: 0.75 },
        ],
      },
      { promptTokens: 7 },
    ],
    [
      'Cohere',
      'cohere',
      {
        id: 'c',
        results: [
          { index: 1, relevance_score: 0.75 },
          { index: 0, relevance_score: 0.25 },
        ],
        meta: { api_version: { version: '2' }, billed_units: { search_units: 1 } },
      },
      { searches: 1 },
    ],
    [
      'counts that are none',
      'openai',
      {
        usage: { prompt_tokens: -1, total_tokens: 'many' },
        meta: { billed_units: { search_units: 0.5 } },
        results: [
          { index: 0, relevance_score: 0.25 },
          { index: 1, relevance_score: 0.75 },
        ],
      },
      {},
    ],
  ] as const)(
    'has the scores in the order of the documents, and what is counted: %s',
    (...[, form, body, counts]) => {
      expect(read(form, body)).toEqual({ scores: [0.25, 0.75], ...counts });
    },
  );

  it('of Text Embeddings Inference is a list, with the tokens in a header', () => {
    const body = [
      { index: 1, score: 0.75 },
      { index: 0, score: 0.25 },
    ];
    expect(read('tei', body, { 'x-compute-tokens': '17' })).toEqual({
      scores: [0.25, 0.75],
      promptTokens: 17,
    });
    for (const headers of [{}, { 'x-compute-tokens': 'x' }, { 'x-compute-tokens': '-1' }])
      expect(read('tei', body, headers)).toEqual({ scores: [0.25, 0.75] });
  });

  const cases = FORMS.flatMap((form) => {
    const score = form === 'tei' ? 'score' : 'relevance_score';
    const row = (index: unknown, value: unknown): object => ({ index, [score]: value });
    const response = (...rows: object[]): unknown => (form === 'tei' ? rows : { results: rows });
    const text = (numbers: string): string =>
      JSON.stringify(response(row(0, 0.5), row(1, 'HERE'))).replace('"HERE"', numbers);
    return [
      ['no JSON', 'nothing'],
      ['no results', '{}'],
      ['null', 'null'],
      ['a result too few', response(row(0, 1))],
      ['a result too many', response(row(0, 1), row(1, 1), row(2, 1))],
      ['an index twice', response(row(0, 1), row(0, 0.5))],
      ['an index beyond the documents', response(row(0, 1), row(2, 0.5))],
      ['a negative index', response(row(0, 1), row(-1, 0.5))],
      ['an index that is a text', response(row(0, 1), row('1', 0.5))],
      ['no score', response(row(0, 1), { index: 1 })],
      ['a score that is a text', response(row(0, 1), row(1, '0.5'))],
      ['a score that is null', response(row(0, 1), row(1, null))],
      ['NaN, as Python writes it', text('NaN')],
      ['infinity, as Python writes it', text('Infinity')],
      ['a number that is infinite', text('1e999')],
      ['an entry that is no result', response(row(0, 1), [] as object)],
    ].map(([what, body]) => [form, what, body] as const);
  });

  it.each(cases)('is rejected: %s, %s', (form, _, body) => {
    expect(() => read(form, body)).toThrow(Error);
    expect(() => read(form, body)).not.toThrow(BackendError);
  });

  it.each(FORMS)('is a backend error if a 200 contains one: %s', (form) => {
    expect(() => read(form, '{"error":{"message":"busy","code":503}}')).toThrow(BackendError);
  });
});

describe('a request to rank', () => {
  const order = {
    query: 'q',
    documents: ['a', 'b'],
    others: { query: 'other', documents: ['c'], texts: ['d'] },
  };

  it.each([
    ['openai', { model: 'm', query: 'q', documents: ['a', 'b'], texts: ['d'] }],
    ['cohere', { model: 'm', query: 'q', documents: ['a', 'b'], texts: ['d'] }],
    ['tei', { model: 'm', query: 'q', texts: ['a', 'b'], documents: ['c'] }],
  ] as const)('has the form of %s, and further members replace none of ours', (form, body) => {
    const request = rerankOf(form).request('m', order);
    expect(request.path).toBe('/rerank');
    expect(JSON.parse(Buffer.concat(request.body ?? []).toString())).toEqual(body);
  });
});
