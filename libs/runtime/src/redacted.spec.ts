import { describe, expect, it } from 'vitest';
import { presentable, redacted } from './redacted.js';

describe("a neighbour's text in the log", () => {
  it.each([
    ['CUDA out of memory. Tried to allocate 2 GiB', 'CUDA out of memory. Tried to allocate 2 GiB'],
    ['see https://vllm.internal:8000/v1?key=a and go', 'see … and go'],
    ['upstream 10.0.0.17:8000 refused', 'upstream … refused'],
    ['connect to vllm-7.prod.svc.cluster.local:8000 failed', 'connect to … failed'],
    ['connect to vllm:8000 failed', 'connect to … failed'],
    ['connect to [fd00::17]:8000 failed', 'connect to … failed'],
    ['Incorrect API key provided: sk-live-a1b2c3d4e5f6.', 'Incorrect API key provided: ….'],
    ['Authorization: Bearer abc', 'Authorization: …'],
    ['token 5f4dcc3b5aa765d61d8327deb882cf99 expired', 'token … expired'],
    ['failed at "my name is Ada" here', 'failed at … here'],
    ["failed at 'my name", 'failed at …'],
    ['got имя', 'got …'],
    ['a\r\nfake log line\u0000', 'a fake log line…'],
  ])('has no address, key or quotation: %j', (text, clean) => {
    expect(redacted(text, [])).toBe(clean);
  });

  it('repeats nothing that the neighbour was sent', () => {
    const body = JSON.stringify({ messages: [{ content: 'my name is Ada Lovelace and I am ill' }] });
    const sent = [Buffer.from(body.slice(0, 40)), Buffer.from(body.slice(40))];
    expect(redacted('could not answer my name is Ada Lovelace, sorry', sent)).toBe(
      'could not answer …, sorry',
    );
    expect(redacted('I am ill or I am well', sent)).toBe('I am ill or I am well');
  });

  it('is short, and empty if too much was sent to compare', () => {
    expect(redacted('word '.repeat(10_000), []).length).toBeLessThanOrEqual(160);
    expect(redacted('anything', [Buffer.alloc(65_537)])).toBe('…');
  });

  const view = { sent: [], secrets: [], isField: () => false };
  it.each([
    ['a log', (text: string) => redacted(text, [])],
    ['a client', (text: string) => presentable(text, view)],
  ])('is cleaned in linear time, whatever the neighbour writes, for %s', (_, clean) => {
    const time = (text: string): number => {
      let least = Number.POSITIVE_INFINITY;
      for (let round = 0; round < 20; round += 1) {
        const startMs = performance.now();
        clean(text);
        least = Math.min(least, performance.now() - startMs);
      }
      return least;
    };
    for (const part of ['ab', ':', '::', 'a.', 'a-', '"', '[', '1.1', 'a:', '_', 'z1', '/', 'a/', '\\', 'é'])
      expect(time(part.repeat(396 / part.length))).toBeLessThan(time(part.repeat(40 / part.length)) * 40);
  });
});

describe("a neighbour's reason for a client", () => {
  const FIELDS = new Set(['messages', 'content', 'tools', 'function', 'name']);
  const view = { sent: [], secrets: ['gpu-box', 'EMPTY-KEY'], isField: (name: string) => FIELDS.has(name) };

  it.each([
    ["This model's maximum context length is 2048 tokens, you requested 4096.", undefined],
    ['`top_p` must be <= 1.0 (got "1.5"), e.g. 0.7', undefined],
    ['messages.0.content: Input should be a valid string', undefined],
    ["tools.0.function.name: expected max_completion_tokens, not 'имя'", undefined],
    ['image input is not supported and/or disabled', undefined],
    ['see https://vllm.internal:8000/v1?key=a and go', 'see … and go'],
    ['upstream 10.0.0.17:8000 refused', 'upstream … refused'],
    ['connect to vllm-7.prod.svc.cluster.local:8000 failed', 'connect to … failed'],
    ['connect to [fd00::17]:8000 failed', 'connect to … failed'],
    ['connect to vllm:8000 failed', 'connect to … failed'],
    ['tools.example.com rejected it', '… rejected it'],
    ['dial vllm:8000/a1b2 or api.example.com/a1b2', 'dial … or …'],
    ['gpu-box wants EMPTY-KEY here', '… wants … here'],
    ['registry.ollama.ai/library/tiny:latest does not support tools', '… does not support tools'],
    ['cannot open "/srv/models/llama.gguf" or C:\\models\\x.gguf', 'cannot open "…" or …'],
    ['Incorrect API key provided: hunter2.', 'Incorrect …'],
    ['Header Authorization: Bearer abc', 'Header …'],
    ['key sk-live-a1b2 or hf_abcdefgh', 'key … or …'],
    ['token 5f4dcc3b5aa765d61d8327deb882cf99 expired', 'token … expired'],
    ['a\r\nb\u0000\u202ec', 'a b c'],
    ['10.0.0.1', ''],
  ])('keeps its words but has no address, key or path: %j', (text, clean = text) => {
    expect(presentable(text, view)).toBe(clean);
  });

  it('repeats no long piece of what the neighbour was sent, except field names', () => {
    const sent = [
      Buffer.from('{"max_completion_tokens_here":1,"content":"You are Ada, and nobody may learn that."}'),
    ];
    expect(presentable('max_completion_tokens_here: You are Ada, and nobody may', { ...view, sent })).toBe(
      'max_completion_tokens_here: …',
    );
    expect(presentable('anything', { ...view, sent: [Buffer.alloc(65_537)] })).toBe('');
  });

  it('has at most 500 characters', () => {
    expect(presentable('word '.repeat(10_000), view).length).toBeLessThanOrEqual(500);
  });
});
