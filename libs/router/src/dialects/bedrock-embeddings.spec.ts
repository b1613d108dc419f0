import { BackendError } from '@svc/backend-calls';
import { describe, expect, it } from 'vitest';
import { bedrock } from './bedrock.js';

const TITAN = 'amazon.titan-embed-text-v2:0';
const COHERE = 'eu.cohere.embed-v4:0';
const texts = { inputs: ['a', 'b'], dimensions: 2, isCustom: false, others: {} };
const base64 = (...numbers: number[]): string =>
  Buffer.from(Float32Array.from(numbers).buffer).toString('base64');

function requestOf(model: string, more: object = {}): { path: string | undefined; body: unknown } {
  const { path, body = [] } = bedrock.embeddings?.request(model, { ...texts, ...more }) ?? {};
  return { path, body: JSON.parse(Buffer.concat(body).toString()) };
}

describe('texts for vectors at Bedrock', () => {
  it('go to Titan one by one', () => {
    expect(bedrock.embeddings?.mostTexts?.(TITAN)).toBe(1);
    expect(requestOf(TITAN, { inputs: ['a'] })).toEqual({
      path: '/model/amazon.titan-embed-text-v2%3A0/invoke',
      body: { inputText: 'a' },
    });
    expect(requestOf(TITAN, { inputs: ['a'], isCustom: true }).body).toEqual({
      inputText: 'a',
      dimensions: 2,
    });
  });

  it('go to Cohere together, as documents unless the request says otherwise', () => {
    expect(bedrock.embeddings?.mostTexts?.(COHERE)).toBe(96);
    expect(requestOf(COHERE)).toEqual({
      path: '/model/eu.cohere.embed-v4%3A0/invoke',
      body: { input_type: 'search_document', texts: ['a', 'b'] },
    });
    const others = { input_type: 'search_query', truncate: 'NONE' };
    expect(requestOf(COHERE, { isCustom: true, others }).body).toEqual({
      ...others,
      texts: ['a', 'b'],
      output_dimension: 2,
    });
  });

  it('go with further members of the family, none of which changes what is embedded or returned', () => {
    const others = {
      normalize: false,
      inputText: 'x',
      texts: ['x'],
      embedding_types: ['int8'],
      embeddingTypes: ['binary'],
    };
    expect(requestOf(TITAN, { inputs: ['a'], others }).body).toEqual({ normalize: false, inputText: 'a' });
    expect(requestOf(COHERE, { others }).body).toEqual({ input_type: 'search_document', texts: ['a', 'b'] });
  });

  it('do not go to models in another form', () => {
    expect(() => requestOf('twelvelabs.marengo-embed-2-7-v1:0')).toThrow(/titan or cohere/);
  });
});

describe('the response of Bedrock', () => {
  const read = (body: object, headers: Record<string, string> = {}, of: object = {}) =>
    bedrock.embeddings?.read(JSON.stringify(body), { ...texts, ...of }, headers);
  const header = (count: string) => ({ 'x-amzn-bedrock-input-token-count': count });
  const vectors = [base64(1, 0), base64(0.5, -1)];

  it('has the vector and the tokens of one text by Titan', () => {
    const body = { embedding: [1, 0], inputTextTokenCount: 3, embeddingsByType: { float: [1, 0] } };
    expect(read(body, header('4'), { inputs: ['a'] })).toEqual({ vectors: [base64(1, 0)], promptTokens: 3 });
  });

  it.each([
    [
      [1, 0],
      [0.5, -1],
    ],
    {
      float: [
        [1, 0],
        [0.5, -1],
      ],
    },
  ])('has the vectors by Cohere, and the tokens in a header: %j', (embeddings) => {
    const body = { id: 'x', embeddings, texts: ['a', 'b'] };
    expect(read(body, header('7'))).toEqual({ vectors, promptTokens: 7 });
    for (const headers of [{}, header('many'), header('-1')])
      expect(read(body, headers)).toEqual({ vectors });
  });

  it.each([
    [{}, /no vectors/],
    [{ embeddings: { int8: [[1, 0]] } }, /no vectors/],
    [{ embedding: [1, 0] }, /1 vectors for 2 texts/],
    [{ embeddings: [[1, 0], [1]] }, /1 numbers in place of 2/],
    [
      {
        embeddings: [
          [1, 0],
          [1, 1e39],
        ],
      },
      /not finite/,
    ],
  ])('is refused without a valid vector for each text: %j', (body, message) => {
    expect(() => read(body)).toThrow(message);
  });

  it('may be an error', () => {
    expect(() => read({ error: { code: 429, message: 'No.' } })).toThrow(BackendError);
  });
});
