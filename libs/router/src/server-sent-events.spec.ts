import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ServerSentEvents } from './server-sent-events.js';

function read(parts: readonly Buffer[]): string[] {
  const parser = new ServerSentEvents();
  return [...parts.flatMap((part) => parser.read(part)), ...parser.end()];
}

const bytes = (text: string): Buffer => Buffer.from(text);

describe('ServerSentEvents', () => {
  const text =
    ': hi\n\ndata: {"a":"é🙂"}\n\nevent: x\r\ndata: two\r\ndata: lines\r\n\r\nid: 1\n\ndata:\n\ndata: [DONE]\n\n';
  const events = ['{"a":"é🙂"}', 'two\nlines', '', '[DONE]'];

  it('finds the same events wherever the bytes are cut, inside characters included', () => {
    const all = bytes(text);
    for (let first = 0; first <= all.length; first += 1) {
      for (let second = first; second <= all.length; second += 7) {
        const parts = [all.subarray(0, first), all.subarray(first, second), all.subarray(second)];
        expect(read(parts)).toEqual(events);
      }
    }
  });

  it('finds any data again, one byte at a time', () => {
    const line = fc.string({ unit: 'grapheme' }).filter((data) => !/[\r\n]/.test(data));
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        const all = bytes(lines.map((data) => `data: ${data}\n\n`).join(''));
        expect(read([...all].map((byte) => Buffer.from([byte])))).toEqual(lines);
      }),
    );
  });

  it('gives an event whose blank line is missing at the end', () => {
    expect(read([bytes('data: a\n\ndata: b')])).toEqual(['a', 'b']);
  });

  it('refuses a line that never ends', () => {
    const parser = new ServerSentEvents();
    const block = Buffer.alloc(1024 * 1024, 'x');
    const feed = (): void => {
      for (let count = 0; count < 20; count += 1) parser.read(block);
    };
    expect(feed).toThrow(RangeError);
  });
});
