import { BackendError } from '@svc/backend-calls';
import { describe, expect, it } from 'vitest';
import { gemini, vertex } from './gemini.js';

const texts = { inputs: ['a', 'b'], dimensions: 2, isCustom: true, others: {} };
const base64 = (...numbers: number[]): string =>
  Buffer.from(Float32Array.from(numbers).buffer).toString('base64');
function bodyOf(request: { readonly body?: unknown } | undefined): unknown {
  const [body] = (request?.body ?? []) as readonly Uint8Array[];
  return JSON.parse(String(body));
}
const predicted = (values: readonly number[], tokens?: number): object => ({
  embeddings: { values, ...(tokens !== undefined && { statistics: { token_count: tokens } }) },
});

describe('texts for vectors', () => {
  it('go to the Gemini API together, each with its model and dimensions', () => {
    const request = gemini.embeddings?.request('gemini-embedding-001', texts);
    expect(request?.path).toBe('/models/gemini-embedding-001:batchEmbedContents');
    const rest = { model: 'models/gemini-embedding-001', outputDimensionality: 2 };
    expect(bodyOf(request)).toEqual({
      requests: ['a', 'b'].map((text) => ({ ...rest, content: { parts: [{ text }] } })),
    });
  });

  it('go to Vertex AI as instances', () => {
    const request = vertex.embeddings?.request('text-embedding-005', texts);
    expect(request?.path).toBe('/models/text-embedding-005:predict');
    expect(bodyOf(request)).toEqual({
      instances: [{ content: 'a' }, { content: 'b' }],
      parameters: { outputDimensionality: 2 },
    });
    const usual = vertex.embeddings?.request('text-embedding-005', { ...texts, isCustom: false });
    expect(bodyOf(usual)).toMatchObject({ parameters: {} });
  });
});

describe('the response', () => {
  const read = (body: object) => gemini.embeddings?.read(JSON.stringify(body), texts, {});

  it('of the Gemini API has vectors in the order of the texts, and no count of tokens', () => {
    expect(read({ embeddings: [{ values: [1, 0] }, { values: [0.5, -1] }] })).toEqual({
      vectors: [base64(1, 0), base64(0.5, -1)],
    });
  });

  it('of Vertex AI has the tokens of each text, which count if all have them', () => {
    const vectors = [base64(1, 0), base64(0.5, -1)];
    expect(read({ predictions: [predicted([1, 0], 3), predicted([0.5, -1], 4)] })).toEqual({
      vectors,
      promptTokens: 7,
    });
    expect(read({ predictions: [predicted([1, 0], 3), predicted([0.5, -1])] })).toEqual({ vectors });
  });

  it.each([
    [{}, /no vectors/],
    [{ embeddings: [{ values: [1, 0] }] }, /1 vectors for 2 texts/],
    [{ embeddings: [{ values: [1, 0] }, { values: [1] }] }, /1 numbers in place of 2/],
    [{ embeddings: [{ values: [1, 0] }, { values: [1, 1e39] }] }, /not finite/],
  ])('is refused without a valid vector for each text: %j', (body, message) => {
    expect(() => read(body)).toThrow(message);
  });

  it('may be an error', () => {
    expect(() => read({ error: { code: 429, message: 'No.' } })).toThrow(BackendError);
  });
});
