import { describe, expect, it } from 'vitest';
import { backendError, parseBackendJson } from './backend-json.js';

const FAILED = expect.objectContaining({ code: 'INFERENCE_FAILED' }) as Error;

/** The logged reason for refusing a text. */
function refusal(text: string): string {
  try {
    parseBackendJson(text);
  } catch (error) {
    return String((error as Error).cause);
  }
  throw new Error('it is not refused');
}

describe('JSON from a backend', () => {
  it('is parsed whether short or long', () => {
    expect(parseBackendJson('{"a":1}')).toEqual({ a: 1 });
    const text = JSON.stringify({ a: 'x'.repeat(100_000), b: [1, [2]] });
    expect(parseBackendJson(text)).toEqual(JSON.parse(text));
  });

  it.each(['', 'x', '[]', 'null', '7', '{'])('is rejected unless it is an object: %j', (text) => {
    expect(() => parseBackendJson(text)).toThrow(FAILED);
  });

  it.each([
    ['levels', `{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}`],
    ['levels', `{"a":${'['.repeat(4_000_000)}`],
    ['members', `{"a":[${'0,'.repeat(2_000_000)}0]}`],
  ])('is rejected when it has too many %s', (what, text) => {
    expect(refusal(text)).toContain(what);
  });

  it('never appears in a log line, nor does the text of a backend error', () => {
    for (const error of [{ message: 'my prompt', type: 'my prompt', code: 'sk-1' }, 'my prompt'])
      expect(String(backendError(error).cause)).not.toMatch(/my prompt|sk-1/);
    expect(String(backendError({ type: 'server_error', code: 500 }).cause)).toContain('server_error, 500');
    expect(refusal('my prompt')).not.toContain('my');
  });
});
