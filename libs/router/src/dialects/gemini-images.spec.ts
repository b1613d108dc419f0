import { BackendError, type PlannedRequest, readError } from '@svc/backend-calls';
import { Backend } from '@svc/contracts/catalog';
import type { ImageOrder } from '@svc/contracts/inference';
import { describe, expect, it } from 'vitest';
import type { ServerCalls } from '../dialect/dialect.js';
import { gemini, vertex } from './gemini.js';

const ORDER: ImageOrder = { prompt: 'a lighthouse', count: 1, width: 1_024, height: 1_024, others: {} };
const backendOf = (model: string): Backend =>
  Backend.parse({ kind: 'gemini', url: 'http://127.0.0.1', model });
const requestOf = (model: string, more: Partial<ImageOrder> = {}): PlannedRequest | undefined =>
  gemini.images?.make?.request(backendOf(model), { ...ORDER, ...more });
const bodyOf = (model: string, more: Partial<ImageOrder> = {}): unknown =>
  JSON.parse(Buffer.concat(requestOf(model, more)?.body ?? []).toString());

describe('an order of images', () => {
  it('goes to Imagen by predict, on Vertex AI as well', () => {
    expect(requestOf('imagen-4.0-generate-001')?.path).toBe('/models/imagen-4.0-generate-001:predict');
    expect(vertex.images).toBe(gemini.images);
    expect(bodyOf('imagen-4.0-generate-001', { count: 3, negativePrompt: 'fog', seed: 7 })).toEqual({
      instances: [{ prompt: 'a lighthouse' }],
      parameters: {
        sampleCount: 3,
        aspectRatio: '1:1',
        negativePrompt: 'fog',
        seed: 7,
        includeRaiReason: true,
      },
    });
  });

  it('goes to Gemini by generateContent, for images only', () => {
    expect(requestOf('gemini-3-pro-image')?.path).toBe('/models/gemini-3-pro-image:generateContent');
    expect(bodyOf('gemini-3-pro-image', { seed: 7 })).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'a lighthouse' }] }],
      generationConfig: { responseModalities: ['IMAGE'], imageConfig: { aspectRatio: '1:1' }, seed: 7 },
    });
  });

  it.each([
    [1_368, 768, { aspectRatio: '16:9' }],
    [880, 1_176, { aspectRatio: '3:4' }],
    [1_568, 672, { aspectRatio: '21:9' }],
    [2_048, 2_048, { aspectRatio: '1:1', imageSize: '2K' }],
    [5_464, 3_072, { aspectRatio: '16:9', imageSize: '4K' }],
  ])('has the nearest ratio and size: %i x %i', (width, height, imageConfig) => {
    expect(bodyOf('gemini-3-pro-image', { width, height })).toMatchObject({
      generationConfig: { imageConfig },
    });
  });

  it('has the ratios and sizes of Imagen for Imagen', () => {
    expect(bodyOf('imagen-4.0-generate-001', { width: 3_136, height: 1_344 })).toMatchObject({
      parameters: { aspectRatio: '16:9', sampleImageSize: '2K' },
    });
  });

  it('has further members, none of which replaces ours', () => {
    const others = { sampleCount: 9, responseModalities: ['TEXT'], personGeneration: 'dont_allow' };
    expect(bodyOf('imagen-4.0-generate-001', { others })).toMatchObject({
      parameters: { sampleCount: 1, personGeneration: 'dont_allow' },
    });
    expect(bodyOf('gemini-3-pro-image', { others })).toMatchObject({
      generationConfig: { responseModalities: ['IMAGE'] },
    });
  });

  it.each<[Partial<ImageOrder>, RegExp]>([
    [{ count: 2 }, /one image a request/],
    [{ negativePrompt: 'fog' }, /no negative prompts/],
    [{ guidance: 3 }, /no scale of guidance/],
  ])('is refused by Gemini for what it has not: %j', (more, message) => {
    const refused = caught(() => requestOf('gemini-3-pro-image', more));
    expect(refused).toMatchObject({ status: 400 });
    expect(readError((refused as BackendError).body).message).toMatch(message);
  });
});

function caught(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return error;
  }
}

/** Nothing else is asked of the server. */
const SERVER: ServerCalls = {
  signal: new AbortController().signal,
  call: () => Promise.reject(new Error('a further call')),
  cleanUp: () => Promise.reject(new Error('a further call')),
};

describe('a response with images of Google', () => {
  const read = (body: object): unknown => gemini.images?.read(Buffer.from(JSON.stringify(body)), SERVER);
  const candidates = (parts: readonly object[], finishReason = 'STOP') => ({
    candidates: [{ content: { role: 'model', parts }, finishReason }],
  });
  const image = (data: string) => ({ inlineData: { mimeType: 'image/png', data } });

  it('is read as base64, without those that a filter kept back, texts and drafts', () => {
    const predictions = [
      { mimeType: 'image/png', bytesBase64Encoded: 'aaaa' },
      { raiFilteredReason: 'No.' },
      { bytesBase64Encoded: 'bbbb' },
    ];
    expect(read({ predictions })).toEqual([{ base64: 'aaaa' }, { base64: 'bbbb' }]);
    const parts = [{ text: 'Here it is.' }, { ...image('cccc'), thought: true }, image('dddd')];
    expect(read(candidates(parts))).toEqual([{ base64: 'dddd' }]);
  });

  it.each([
    { predictions: [{ raiFilteredReason: 'No.' }] },
    { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } },
    candidates([], 'IMAGE_SAFETY'),
    candidates([{ text: 'No.' }], 'PROHIBITED_CONTENT'),
    { candidates: [{ finishReason: 'SAFETY' }] },
  ])('violates a policy if a filter kept all back: %j', (body) => {
    const refused = caught(() => read(body));
    expect(readError((refused as BackendError).body).isPolicy).toBe(true);
  });

  it.each([{}, { predictions: [] }, { predictions: 'x' }, candidates([{ text: 'A lighthouse.' }])])(
    'is a fault without images: %j',
    (body) => {
      expect(() => read(body)).toThrow(/no images/);
    },
  );

  it('may be an error', () => {
    expect(() => read({ error: { code: 429, message: 'No.' } })).toThrow(BackendError);
  });
});
