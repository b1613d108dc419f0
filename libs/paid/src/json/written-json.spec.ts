import { LongStrings } from '@svc/runtime';
import { describe, expect, it } from 'vitest';
import { writtenJson } from './written-json.js';

describe('writtenJson', () => {
  it.each([
    'a"\\\n\u0001é🙂\ud83d',
    'x'.repeat(131_071) + '🙂'.repeat(70_000),
    '\\"'.repeat(100_000),
    '\ud83d'.repeat(10_000),
  ])('writes the same text as JSON.stringify, with long strings kept separately', async (text) => {
    const value = { a: [text, 1, { b: text }], c: null };
    const strings = new LongStrings();
    const json = await writtenJson(value, strings);
    expect(json.length).toBeLessThan(300);
    const whole = Buffer.concat(await strings.bytesOf(json)).toString();
    expect(whole).toBe(JSON.stringify(value));
  });
});
