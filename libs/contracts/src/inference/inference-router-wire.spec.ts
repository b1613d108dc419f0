import { describe, expect, it } from 'vitest';
import { Problem } from '../problems/problem.js';
import {
  decodeServedBy,
  decodeInferenceCall,
  decodeProblemTrailer,
  encodeServedBy,
  encodeInferenceCall,
  encodeProblemTrailer,
} from './inference-router-wire.js';

const CALL = { requestId: 'r-1', accountId: 'ä 1', model: 'm', body: [Buffer.from('{"a":1}')] };

const problemOf = (act: () => unknown): unknown => {
  try {
    return act();
  } catch (error) {
    return error;
  }
};

describe('a call on the wire', () => {
  it.each([
    {},
    { cacheKey: 'é🙂\r\nx: y %' },
    { cacheKey: '', model: 'a/b:c@d' },
    { kind: 'speech' as const },
    { kind: 'rpc' as const, exceptBackend: 'backend-1' },
    { share: { band: 'background' as const, weight: 2.5 } },
    { encryption: { modelKey: `04${'0a'.repeat(64)}`, clientKey: `04${'b1'.repeat(64)}` } },
  ])('survives a round trip, in valid HTTP headers: %j', (more) => {
    for (const stream of [true, false]) {
      const { headers, body } = encodeInferenceCall({ ...CALL, ...more }, stream);
      expect(Object.values(headers).join('')).toMatch(/^[\x20-\x7e]*$/);
      expect(decodeInferenceCall(headers, body)).toEqual({ call: { ...CALL, ...more }, stream });
    }
  });

  it('carries an original request and its betas', () => {
    for (const betas of [[], ['a-1', 'b-2']]) {
      const call = { ...CALL, original: { body: [Buffer.from('{"max_tokens":1}')], betas } };
      const { headers, body } = encodeInferenceCall(call, true);
      const { call: got } = decodeInferenceCall(headers, [Buffer.concat(body)]);
      expect(got).toEqual(call);
    }
  });

  it('survives a round trip with its files', () => {
    const file = (name: string, bytes: string) => ({ name, type: 'audio/wav', bytes: Buffer.from(bytes) });
    const call = { ...CALL, files: [file('ä"\r\n.wav', 'RIFF'), file('b', ''), file('c', '{}')] };
    const { headers, body } = encodeInferenceCall(call, false);
    expect(Object.values(headers).join('')).toMatch(/^[\x20-\x7e]*$/);
    expect(decodeInferenceCall(headers, [Buffer.concat(body)])).toEqual({ call, stream: false });
  });

  it.each([
    {},
    { 'x-svc-files': 'x' },
    { 'x-svc-files': '[]' },
    { 'x-svc-files': '[{"name":"a","type":"b","length":9}]' },
    { 'x-svc-files': '[{"name":"a","type":"b","length":-1}]' },
    { 'x-svc-model': '%' },
    { 'x-svc-cache-key': '%zz' },
    { 'x-svc-stream': 'maybe' },
    { 'x-svc-model': ['a', 'b'] },
    { 'x-request-id': '' },
    { 'x-svc-model-key': '04' },
    { 'x-svc-model': 'a'.repeat(10_000) },
  ])('is rejected if invalid: %j', (wrong) => {
    const { headers } = encodeInferenceCall(CALL, true);
    const given = Object.keys(wrong).length === 0 ? {} : { ...headers, ...wrong };
    const problem = problemOf(() => decodeInferenceCall(given, CALL.body));
    expect(problem).toBeInstanceOf(Problem);
    expect(problem).toMatchObject({ code: 'INVALID_REQUEST' });
  });
});

describe('a response on the wire', () => {
  it('names the backend that responded', () => {
    const answering = { backend: 'vllm-1:8000', retries: 3 };
    expect(decodeServedBy(encodeServedBy(answering))).toEqual(answering);
  });

  it('has the last final block if it is of a blockchain node, and no other header for it', () => {
    const answering = { backend: 'node', retries: 0, finalizedBlock: 123_456_789_012 };
    const headers = encodeServedBy(answering);
    expect(decodeServedBy(headers)).toEqual(answering);
    for (const block of ['-1', '1.5', '0x1', '', 'NaN', '1'.repeat(16)])
      expect(decodeServedBy({ ...headers, 'x-svc-finalized-block': block })).toEqual({
        backend: 'node',
        retries: 0,
      });
  });

  it('names the kind of backend in whose dialect a chat is, unless it is that of OpenAI', () => {
    const answering = { backend: 'b', retries: 0, dialect: 'other' };
    expect(decodeServedBy(encodeServedBy(answering))).toEqual(answering);
  });

  it('has its media type if it is binary', () => {
    const answering = { backend: 'tts', retries: 0, contentType: 'audio/mpeg' };
    expect(decodeServedBy(encodeServedBy(answering))).toEqual(answering);
  });

  it.each([
    {},
    { 'x-svc-backend': 'b', 'x-svc-retries': '-1' },
    { 'x-svc-backend': 'b', 'x-svc-retries': '1e3' },
  ])('is rejected without a backend: %j', (headers) => {
    expect(problemOf(() => decodeServedBy(headers))).toMatchObject({ code: 'INFERENCE_FAILED' });
  });

  it('reports a failure in a trailer', () => {
    const trailers = encodeProblemTrailer(
      new Problem('REQUEST_TIMEOUT', { message: 'é\r\n', cause: 'secret' }),
    );
    expect(Object.values(trailers).join('')).toMatch(/^[\x20-\x7e]*$/);
    expect(decodeProblemTrailer(trailers)).toMatchObject({ code: 'REQUEST_TIMEOUT', message: 'é\r\n' });
    expect(decodeProblemTrailer({})).toBeUndefined();
    for (const text of ['%', '{', 'null'])
      expect(decodeProblemTrailer({ 'x-svc-problem': text })).toBeInstanceOf(Problem);
  });
});
