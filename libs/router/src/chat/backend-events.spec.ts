import { setImmediate as turn } from 'node:timers/promises';
import { Problem } from '@svc/contracts/problems';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eventsOf } from './backend-events.js';

/** A streamed response of these bytes that records how it is read. */
class BackendBytes implements AsyncIterator<readonly Uint8Array[]> {
  closed = false;
  read = 0;
  isComplete = false;

  constructor(private readonly parts: readonly Buffer[]) {}

  next(): Promise<IteratorResult<readonly Uint8Array[]>> {
    const part = this.closed ? undefined : this.parts[this.read];
    if (!part) return Promise.resolve({ value: undefined, done: true });
    this.read += 1;
    return Promise.resolve({ value: [part], done: false });
  }

  return(): Promise<IteratorResult<readonly Uint8Array[]>> {
    this.closed = true;
    return Promise.resolve({ value: undefined, done: true });
  }

  events(): AsyncIterable<readonly string[]> {
    const bytes = { [Symbol.asyncIterator]: () => this };
    return eventsOf({ bytes }, { idleTimeoutMs: 120_000, isComplete: () => this.isComplete });
  }
}

async function eventsOfResponse(response: BackendBytes): Promise<string[]> {
  const events: string[] = [];
  for await (const arrived of response.events()) events.push(...arrived);
  return events;
}

const eventsIn = (parts: readonly Buffer[]): Promise<string[]> => eventsOfResponse(new BackendBytes(parts));

async function* endless(text: string): AsyncGenerator<readonly Uint8Array[]> {
  for (;;) {
    await turn();
    yield [Buffer.from(text)];
  }
}

const bytes = (text: string): Buffer => Buffer.from(text);

const DONE = 'data: [DONE]\n\n';

describe('the events of a streamed response', () => {
  it('do not depend on where the bytes are split, even inside characters and line ends', async () => {
    const text =
      ': hi\n\ndata: {"a":"é🙂"}\n\nevent: x\r\ndata: two\r\ndata: lines\r\n\r\nid: 1\n\ndata: cr\r\rdata: [DONE]\r\n\r\n';
    const all = bytes(`\ufeff${text}`);
    for (let first = 0; first <= all.length; first += 1) {
      for (let second = first; second <= all.length; second += 7) {
        const parts = [all.subarray(0, first), all.subarray(first, second), all.subarray(second)];
        expect(await eventsIn(parts)).toEqual(['{"a":"é🙂"}', 'two\nlines', 'cr']);
      }
    }
  });

  it('are decoded correctly one byte at a time', async () => {
    const line = fc.string({ unit: 'grapheme', minLength: 1 }).filter((data) => !/[\r\n]/.test(data));
    await fc.assert(
      fc.asyncProperty(fc.array(line), async (lines) => {
        const all = bytes(lines.map((data) => `data: ${data}\n\n`).join('') + DONE);
        expect(await eventsIn([...all].map((byte) => Buffer.from([byte])))).toEqual(lines);
      }),
    );
  });

  it('do not include events without data', async () => {
    expect(await eventsIn([bytes(`data:\n\nevent: ping\n\n: hi\n\nretry: 1\n\ndata: \n\n${DONE}`)])).toEqual(
      [],
    );
  });

  it.each(['data: a\n\ndata: [DONE]', 'data: a\n\ndata: [DONE]\n', 'data: a\r\rdata: [DONE]\r'])(
    'end at a [DONE] without a blank line',
    async (text) => {
      expect(await eventsIn([bytes(text)])).toEqual(['a']);
    },
  );

  it('end at the first [DONE], while the connection is read to its end', async () => {
    const response = new BackendBytes([
      bytes(`data: a\n\n${DONE}data: b\n\n`),
      bytes(DONE),
      bytes('data: c\n\n'),
    ]);
    const events = await eventsOfResponse(response);
    await turn();
    expect({ events, read: response.read, closed: response.closed }).toEqual({
      events: ['a'],
      read: 3,
      closed: false,
    });
  });

  it('close the connection of a backend that floods after its [DONE]', async () => {
    const flood = Array.from({ length: 1_000 }, () => Buffer.alloc(4_096, 'x'));
    const response = new BackendBytes([bytes(DONE), ...flood]);
    expect(await eventsOfResponse(response)).toEqual([]);
    await turn();
    expect(response.closed).toBe(true);
    expect(response.read).toBeLessThan(20);
  });

  it('fail after the last event when the backend ends before its [DONE]', async () => {
    const events: string[] = [];
    const reading = async (): Promise<void> => {
      for await (const arrived of new BackendBytes([bytes('data: a\n\ndata: b')]).events())
        events.push(...arrived);
    };
    await expect(reading()).rejects.toMatchObject({ code: 'INFERENCE_FAILED' });
    expect(events).toEqual(['a', 'b']);
  });

  it('end where the bytes end if they are a complete response, which some backends end without [DONE]', async () => {
    const response = new BackendBytes([bytes('data: a\n\ndata: b')]);
    response.isComplete = true;
    expect(await eventsOfResponse(response)).toEqual(['a', 'b']);
  });

  it.each(['', ' ', '\ufeff', '\ufeff\r\n '])(
    'are a single one for a document in place of events, after %j, wherever it is split',
    async (before) => {
      const document = '{\n  "a": "é🙂",\n\ndata: not an event\n\n}';
      const all = bytes(`${before}${document}\n`);
      for (let at = 0; at <= all.length; at += 1)
        expect(await eventsIn([all.subarray(0, at), all.subarray(at)])).toEqual([document]);
    },
  );

  it('fail at a document over the size limit, and close the backend call', async () => {
    const block = Buffer.alloc(256 * 1024, 'x');
    const response = new BackendBytes([bytes('{'), ...Array.from({ length: 40 }, () => block)]);
    await expect(eventsOfResponse(response)).rejects.toThrow(Problem);
    expect(response.closed).toBe(true);
    expect(response.read).toBeLessThan(20);
  });

  it('fail at an event over the size limit, and close the backend call', async () => {
    const block = Buffer.alloc(256 * 1024, 'x');
    const response = new BackendBytes([bytes('data: '), ...Array.from({ length: 40 }, () => block)]);
    await expect(eventsOfResponse(response)).rejects.toThrow(Problem);
    expect(response.closed).toBe(true);
    expect(response.read).toBeLessThan(20);
  });

  it('fail when bytes but no events arrive for too long', async () => {
    const options = { idleTimeoutMs: 20, isComplete: () => true };
    const reading = async (): Promise<void> => {
      for await (const arrived of eventsOf({ bytes: endless(': wait\n\n') }, options))
        expect(arrived).toEqual([]);
    };
    await expect(reading()).rejects.toMatchObject({ code: 'REQUEST_TIMEOUT' });
  });

  it('close the backend call when the reader stops', async () => {
    const response = new BackendBytes([bytes('data: a\n\n'), bytes('data: b\n\n')]);
    for await (const arrived of response.events()) {
      expect(arrived).toEqual(['a']);
      break;
    }
    expect(response).toMatchObject({ closed: true, read: 1 });
  });

  it('take time proportional to the bytes of a long line, however it is split', async () => {
    const line = 2 * 1024 * 1024;
    const cut = (pieceBytes: number): Buffer[] => [
      bytes('data: '),
      ...Array.from({ length: line / pieceBytes }, () => Buffer.alloc(pieceBytes, 'x')),
      bytes(`\n\n${DONE}`),
    ];
    // The minimum of several runs, since a busy machine may delay some of them.
    const time = async (parts: readonly Buffer[]): Promise<number> => {
      let leastMs = Number.POSITIVE_INFINITY;
      for (let round = 0; round < 5; round += 1) {
        const startMs = performance.now();
        await eventsIn(parts);
        leastMs = Math.min(leastMs, performance.now() - startMs);
      }
      return leastMs;
    };
    await time(cut(65_536));
    // The same number of pieces, each with a line of its own.
    const pieces = cut(1_024);
    const short = pieces.slice(1, -1).map((part) => Buffer.concat([bytes('data: '), part, bytes('\n\n')]));
    const linear = await time([...short, bytes(DONE)]);
    expect(await time(pieces)).toBeLessThan(linear * 10);
  });
});
