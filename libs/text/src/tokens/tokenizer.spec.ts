import { countTokens as countWhole } from 'gpt-tokenizer/encoding/cl100k_base';
import { countTokens as countNewer } from 'gpt-tokenizer/encoding/o200k_base';
import { beforeAll, describe, expect, it } from 'vitest';
import { Tokenizer } from './tokenizer.js';
import { loadTokenizer } from './tokenizers.js';

const TEXTS: Record<string, string> = {
  prose:
    'It’s what they’d say: the quick, brown fox (all of 42,000 of them) jumps over  the lazy dog.\n\n'.repeat(
      40,
    ),
  code: 'function add(a, b) {\n    return a+b; // "sum"\n}\n\n\tif (x !== y_1) { call(`${z}`); }\r\n'.repeat(
    40,
  ),
  german: 'Donaudampfschifffahrtsgesellschaft fährt über die Straße, und zwar täglich. '.repeat(40),
  chinese: '今天天气很好，我们去公园散步。你觉得怎么样？他说：“好的！”然后就出发了；'.repeat(60),
  arabic: 'السلام عليكم ورحمة الله وبركاته، كيف حالك اليوم؟ '.repeat(40),
  emoji: 'héllo 👩‍👩‍👧‍👦 wörld 🙂 '.repeat(60),
  numbers: '3.14159 26535 8979 2024-11-21T10:15:00Z 1,000,000 '.repeat(40),
  spaces: `a${' '.repeat(300)}b\n${' '.repeat(200)}\n`.repeat(5),
  special: 'say <|endoftext|> and <|im_start|> here '.repeat(30),
};

/** A pseudo-random mixture of the texts above. */
function mixed(seed: number): string {
  let state = seed;
  const next = (most: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state % most;
  };
  const texts = Object.values(TEXTS);
  let text = '';
  while (text.length < 5_000) {
    const from = texts[next(texts.length)] ?? '';
    const start = next(from.length);
    text += from.slice(start, start + next(200));
  }
  return text;
}

describe.each([
  ['cl100k_base', countWhole],
  ['o200k_base', countNewer],
] as const)('%s', (name, countAtOnce) => {
  const whole = (text: string): number => countAtOnce(text, { disallowedSpecial: new Set() });
  let tokenizer: Tokenizer;

  beforeAll(async () => {
    tokenizer = await loadTokenizer(name);
  });

  it.each(Object.keys(TEXTS))('counts %s slice by slice as it would at once', async (kind) => {
    const text = TEXTS[kind] ?? '';
    expect(await tokenizer.count([text])).toBe(whole(text));
  });

  it('counts mixtures of them to within one token per slice', async () => {
    for (let seed = 1; seed <= 40; seed += 1) {
      const text = mixed(seed);
      // A slice that had to be cut inside a long word may add a token.
      const slices = Math.ceil(text.length / 512);
      const counted = await tokenizer.count([text]);
      expect(Math.abs(counted - whole(text)), `seed ${seed}`).toBeLessThanOrEqual(slices);
    }
  });

  it('counts an endless word to within two tokens per slice, and splits no character', async () => {
    const word = 'ACGT🙂'.repeat(1_000);
    const slices = Math.ceil(word.length / 512);
    expect(Math.abs((await tokenizer.count([word])) - whole(word))).toBeLessThanOrEqual(2 * slices);
  });

  it('sums several texts, and returns 0 for none', async () => {
    expect(await tokenizer.count(['hello', 'hello'])).toBe(2 * whole('hello'));
    expect(await tokenizer.count([])).toBe(0);
    expect(await tokenizer.count([''])).toBe(0);
  });
});

it('yields to the event loop when slices take long', async () => {
  const slow = new Tokenizer((text) => {
    const untilMs = performance.now() + 3;
    while (performance.now() < untilMs);
    return text.length;
  });
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 1);
  expect(await slow.count(['word '.repeat(1_000)])).toBe(5_000);
  clearInterval(timer);
  // Ten slices, each longer than the time before yielding.
  expect(turns).toBeGreaterThanOrEqual(5);
});
