import { ChatRequest } from '@svc/api/chat';
import * as cl100k from 'gpt-tokenizer/encoding/cl100k_base';
import * as o200k from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import { LeastTokens, leastPromptTokens } from './least-tokens.js';

const BASE64 = Buffer.from(Array.from({ length: 9_000 }, (_, at) => (at * 7_919 + at * at) % 256));

/** Texts, including some with very few tokens for their size. */
const TEXTS: Record<string, string> = {
  prose: 'It’s what they’d say: the quick, brown fox jumps over the lazy dog, and nobody minded. '.repeat(
    100,
  ),
  'long words': 'internationalization responsibilities telecommunications characteristics '.repeat(100),
  'long names': '.translatesAutoresizingMaskIntoConstraints UnsupportedOperationException'.repeat(100),
  code: 'function add(a, b) {\n        return a + b;\n}\n\n\t\tif (x !== y_1) { call(`${z}`); }\r\n'.repeat(
    100,
  ),
  json: '        "name": "value",\n            "other": [1, 2, 3],\n'.repeat(100),
  table: '| --- | --- |\n+----------+----------+\n│ a │ b │\n└────┴────┘\n'.repeat(100),
  base64: BASE64.toString('base64'),
  'base64 of zeros': 'A'.repeat(9_000),
  spaces: ' '.repeat(9_000),
  'white space': '  \n\t\r\n'.repeat(2_000),
  lines: `${' '.repeat(200)}\n`.repeat(50),
  'a letter': 'x'.repeat(9_000),
  dashes: '-'.repeat(9_000),
  'two characters': '=-'.repeat(5_000),
  laughter: 'hahaha '.repeat(1_000),
  entities: '&nbsp;'.repeat(1_000),
  digits: '1234567890 0000000000 '.repeat(300),
  emoji: '👩‍👩‍👧‍👦🙂🚀 '.repeat(400),
  chinese: '今天天气很好，我们去公园散步。你觉得怎么样？日本毛片免费视频观看'.repeat(100),
  japanese: '私はガラスを食べられます。それは私を傷つけません。'.repeat(100),
  thai: 'สำนักเลขานุการองค์กร วิเคราะห์บอลวันนี้ เปิดอภิปรายทั่วไป '.repeat(100),
  arabic: 'السلام عليكم ورحمة الله وبركاته، كيف حالك اليوم؟ '.repeat(100),
  georgian: 'მნიშვნელოვანია განსაკუთრებით '.repeat(100),
};

const AS_TEXT = { disallowedSpecial: new Set<string>() };

function leastOf(...pieces: string[]): number {
  const least = new LeastTokens();
  for (const piece of pieces) least.add(piece);
  return least.tokens;
}

describe.each([
  ['cl100k_base', cl100k],
  ['o200k_base', o200k],
])('the lower bound for the tokens of a text, by %s', (_, { countTokens, encode, decode }) => {
  it.each(Object.keys(TEXTS))('does not exceed the tokens of %s, whole or token by token', (kind) => {
    const text = TEXTS[kind] ?? '';
    const tokens = countTokens(text, AS_TEXT);
    expect(leastOf(text)).toBeLessThanOrEqual(tokens);
    const pieces = encode(text, AS_TEXT).map((token) => decode([token]));
    expect(leastOf(...pieces)).toBeLessThanOrEqual(tokens);
  });

  it('is at least a third of the tokens of prose', () => {
    const text = TEXTS['prose'] ?? '';
    expect(leastOf(text)).toBeGreaterThan(countTokens(text, AS_TEXT) / 3);
  });
});

describe('the lower bound', () => {
  it('counts only the beginning of a very long text', () => {
    const text = 'a word '.repeat(100_000);
    expect(leastOf(text)).toBe(leastOf(text.slice(0, 131_072)));
  });

  it('counts the texts of a prompt that every template passes on', () => {
    const words = 'some words '.repeat(100);
    const request = (messages: object[]): ChatRequest => ChatRequest.parse({ model: 'm', messages });
    const question = { role: 'user', content: [{ type: 'text', text: words }] };
    expect(leastPromptTokens(request([question]))).toBe(leastOf(words));
    const thought = { role: 'assistant', content: words, reasoning_content: words };
    const both = [{ role: 'system', content: words }, thought, question];
    expect(leastPromptTokens(request(both))).toBe(leastOf(words, words));
  });
});
