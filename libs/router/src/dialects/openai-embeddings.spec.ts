import { describe, expect, it } from 'vitest';
import { BackendError } from '@svc/backend-calls';
import { embeddings } from './openai-embeddings.js';

const texts = { inputs: ['a', 'b'], dimensions: 2, isCustom: false };
const base64 = (...numbers: number[]): string =>
  Buffer.from(Float32Array.from(numbers).buffer).toString('base64');
const response = (data: unknown, usage?: unknown): string =>
  JSON.stringify({ object: 'list', data, ...(usage !== undefined && { usage }) });
const row = (index: number, embedding: unknown): object => ({ object: 'embedding', index, embedding });

describe('an embeddings response', () => {
  it('is read in the order of its indexes, from numbers or base64', () => {
    const body = response([row(1, base64(0.5, -1)), row(0, [1, 0])], { prompt_tokens: 3 });
    expect(embeddings.read(body, texts)).toEqual({
      vectors: [base64(1, 0), base64(0.5, -1)],
      promptTokens: 3,
    });
  });

  it.each([
    [{ embedding: [1, 0] }, row(1, [0.5, -1])],
    [{ embedding: [1, 0], index: null }, { embedding: base64(0.5, -1) }],
    [row(0, [1, 0]), { embedding: [0.5, -1] }],
  ])('has vectors without an index in the order of the texts: %j %j', (...data) => {
    expect(embeddings.read(response(data), texts).vectors).toEqual([base64(1, 0), base64(0.5, -1)]);
  });

  it('may lack a token count, or have an invalid one', () => {
    const data = [row(0, [1, 0]), row(1, [0, 1])];
    for (const usage of [undefined, null, {}, { prompt_tokens: -1 }, { prompt_tokens: 'many' }])
      expect(embeddings.read(response(data, usage), texts)).not.toHaveProperty('promptTokens');
  });

  it.each([
    ['no JSON', 'nothing'],
    ['no vectors', '{}'],
    ['a vector too few', response([row(0, [1, 0])])],
    ['a vector too many', response([row(0, [1, 0]), row(1, [0, 1]), row(2, [0, 1])])],
    ['two vectors for one text', response([row(0, [1, 0]), row(0, [0, 1])])],
    ['a vector in the place of another', response([row(1, [1, 0]), { embedding: [0, 1] }])],
    ['an index beyond the texts', response([row(0, [1, 0]), row(2, [0, 1])])],
    ['a vector of another length', response([row(0, [1, 0]), row(1, [0, 1, 0])])],
    ['base64 of another length', response([row(0, [1, 0]), row(1, base64(1))])],
    ['a number that is infinite in 32 bits', response([row(0, [1, 0]), row(1, [0, 1e39])])],
    ['base64 of NaN', response([row(0, [1, 0]), row(1, base64(0, Number.NaN))])],
    ['text in place of a vector', response([row(0, [1, 0]), row(1, 'not a vector')])],
  ])('is rejected with %s', (_, body) => {
    expect(() => embeddings.read(body, texts)).toThrow(Error);
    expect(() => embeddings.read(body, texts)).not.toThrow(BackendError);
  });

  it('is a backend error if a 200 contains one', () => {
    const body = '{"error":{"message":"busy","code":503}}';
    expect(() => embeddings.read(body, texts)).toThrow(BackendError);
  });
});

describe('an embeddings call', () => {
  const bodyOf = (isCustom: boolean, others = {}): unknown =>
    JSON.parse(Buffer.concat(embeddings.request('m', { ...texts, isCustom, others }).body ?? []).toString());

  it("names the dimensions only if they differ from the model's default", () => {
    const body = { model: 'm', input: ['a', 'b'], encoding_format: 'base64' };
    expect(bodyOf(false)).toEqual(body);
    expect(bodyOf(true)).toEqual({ ...body, dimensions: 2 });
  });

  it('has further members, none of which replaces ours', () => {
    const others = { input: ['c'], encoding_format: 'float', truncate: true };
    expect(bodyOf(false, others)).toEqual({
      model: 'm',
      input: ['a', 'b'],
      encoding_format: 'base64',
      truncate: true,
    });
  });
});
