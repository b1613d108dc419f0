import { describe, expect, it } from 'vitest';
import { frameOf, framed } from '../../test/event-frames.js';
import { ConverseEvents } from './converse-events.js';
import { type EventFrame, EventFrames } from './event-frames.js';

/** Messages of the test vectors that AWS publishes with its SDKs. */
const VECTORS = {
  empty: '000000100000000005c248eb7d98c8ff',
  payload: '0000001d00000000fd528c5a7b27666f6f273a27626172277dc3653936',
  header:
    '0000003d0000002007fd83960c636f6e74656e742d747970650700106170706c69636174696f6e2f6a736f6e7b27666f6f273a27626172277d8d9c08b1',
};

const bytesOf = (hex: string): Buffer => Buffer.from(hex, 'hex');

const read = (...parts: readonly Buffer[]): EventFrame[] => {
  const frames = new EventFrames();
  return parts.flatMap((part) => frames.read(part));
};

describe('messages of an event stream', () => {
  it('are read as in the test vectors of AWS', () => {
    expect(read(...Object.values(VECTORS).map(bytesOf))).toEqual([
      { headers: new Map(), payload: '' },
      { headers: new Map(), payload: "{'foo':'bar'}" },
      { headers: new Map([['content-type', 'application/json']]), payload: "{'foo':'bar'}" },
    ]);
    expect(frameOf({ 'content-type': 'application/json' }, "{'foo':'bar'}").toString('hex')).toBe(
      VECTORS.header,
    );
  });

  it('are the same wherever their bytes are split', () => {
    const bytes = Buffer.concat(Object.values(VECTORS).map(bytesOf));
    const whole = read(bytes);
    for (let at = 1; at < bytes.length; at += 1)
      expect(read(bytes.subarray(0, at), bytes.subarray(at))).toEqual(whole);
    expect(read(...Array.from(bytes, (byte) => Buffer.from([byte])))).toEqual(whole);
  });

  it('are refused with any bit changed', () => {
    const bytes = bytesOf(VECTORS.header);
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expect(() => read(changed)).toThrow(expect.objectContaining({ code: 'INFERENCE_FAILED' }) as Error);
    }
  });

  it('are refused if they are too long, or shorter than their headers', () => {
    for (const [length, headers] of [
      [1_048_577, 0],
      [15, 0],
      [20, 8],
    ] as const) {
      const frame = frameOf({}, '');
      frame.writeUInt32BE(length, 0);
      frame.writeUInt32BE(headers, 4);
      expect(() => read(frame)).toThrow(expect.objectContaining({ code: 'INFERENCE_FAILED' }) as Error);
    }
  });

  it('have headers of every type, of which texts are kept', () => {
    const value = (type: number, ...bytes: number[]): Buffer =>
      Buffer.from([1, 'a'.charCodeAt(0), type, ...bytes]);
    const others = [
      value(0),
      value(1),
      value(2, 1),
      value(3, 1, 2),
      value(4, 1, 2, 3, 4),
      value(5, 1, 2, 3, 4, 5, 6, 7, 8),
      value(6, 0, 2, 9, 9),
      value(8, 1, 2, 3, 4, 5, 6, 7, 8),
      value(9, ...Array<number>(16).fill(7)),
      Buffer.from([1, 'b'.charCodeAt(0), 7, 0, 1, 'x'.charCodeAt(0)]),
    ];
    expect(read(framed(Buffer.concat(others)))).toEqual([{ headers: new Map([['b', 'x']]), payload: '' }]);
    for (const broken of [value(10), value(7, 0, 9), value(4, 1), Buffer.from([9])])
      expect(() => read(framed(broken))).toThrow(
        expect.objectContaining({ code: 'INFERENCE_FAILED' }) as Error,
      );
  });

  it('are lines whatever is in them', () => {
    const payload = '{"a":\r\n1}';
    const events = new ConverseEvents();
    const frame = frameOf({ ':message-type': 'event', ':event-type': 'x\ndata: y' }, payload);
    expect(Buffer.concat(events.read([frame])).toString()).toBe('data: {"x\\ndata: y":{"a": 1}}\n\n');
    events.read([frame.subarray(0, 5)]);
    expect(() => events.end()).toThrow(expect.objectContaining({ code: 'INFERENCE_FAILED' }) as Error);
  });
});
