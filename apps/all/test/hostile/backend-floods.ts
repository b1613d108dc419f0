import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  ANSWERS,
  type Attack,
  ENDS,
  FAILS,
  GOOD,
  HEAD,
  LATE,
  TEXT,
  USAGE,
  deltas,
  raw,
} from './backend-attacks.js';
import { ending, piece, whole } from './hostile-backend.js';

/** Writes as fast as the gateway reads, until the connection is closed. */
async function flood(to: Writable, bytes: string): Promise<void> {
  const closed = new AbortController();
  to.once('close', () => closed.abort());
  while (!to.destroyed) {
    // Lets others run as well.
    if (to.write(bytes)) await sleep(0);
    else await once(to, 'drain', { signal: closed.signal }).catch(() => undefined);
  }
}

/** The same, directly on the socket. */
async function rawFlood({ socket }: ServerResponse, head: string, bytes: string): Promise<void> {
  if (!socket) return;
  socket.write(head);
  await flood(socket, bytes);
}

export const FLOODS: readonly Attack[] = [
  {
    name: 'comments without end',
    behave: ({ response }) => flood(response, ': wait\n\n'.repeat(500)),
    stream: true,
    outcomes: ENDS,
  },
  {
    name: 'comments without end after its first event',
    behave: async ({ response }) => {
      response.write(piece('one '));
      await flood(response, ': wait\n\n'.repeat(500));
    },
    stream: true,
    outcomes: ENDS,
  },
  {
    name: 'events without data, without end',
    behave: ({ response }) => flood(response, 'data:\n\nevent: x\n\nid: 1\n\n'.repeat(500)),
    stream: true,
    outcomes: ENDS,
  },
  {
    name: 'deltas that say nothing, without end',
    behave: ({ response }) => flood(response, deltas({}).repeat(200)),
    stream: true,
    outcomes: ENDS,
  },
  {
    name: 'tokens without end',
    behave: ({ response }) => flood(response, piece('one ').repeat(100)),
    stream: true,
    outcomes: ANSWERS,
    says: '"finish_reason":"length"',
  },
  {
    name: 'a line without end',
    behave: async ({ response }) => {
      response.write('data: ');
      await flood(response, 'x'.repeat(65_536));
    },
    stream: true,
    outcomes: ENDS,
  },
  {
    name: 'lines of one event without end',
    behave: ({ response }) => flood(response, 'data: x\n'.repeat(8_192)),
    stream: true,
    outcomes: ENDS,
  },
  {
    name: 'a body without end',
    behave: ({ response }) => flood(response, ' '.repeat(65_536)),
    stream: false,
    outcomes: FAILS,
  },
  {
    name: 'an answer in single bytes',
    behave: async ({ response }) => {
      response.socket?.setNoDelay(true);
      for (const byte of Buffer.from(GOOD)) {
        response.write(Buffer.from([byte]));
        await sleep(0);
      }
      response.end();
    },
    stream: true,
    outcomes: ANSWERS,
    says: 'three',
  },
  {
    name: 'headers without end',
    behave: ({ response }) => rawFlood(response, HEAD, `x-${'a'.repeat(50)}: b\r\n`.repeat(100)),
    outcomes: ENDS,
  },
  {
    name: 'one header without end',
    behave: ({ response }) => rawFlood(response, `${HEAD}x-a: `, 'a'.repeat(65_536)),
    outcomes: ENDS,
  },
  {
    name: 'informational heads without end',
    behave: ({ response }) =>
      rawFlood(response, '', 'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n'.repeat(100)),
    outcomes: ENDS,
  },
  {
    name: 'more after its [DONE], without end',
    behave: async ({ response }) => {
      response.write(GOOD);
      await flood(response, piece('more ').repeat(100));
    },
    stream: true,
    outcomes: ANSWERS,
    says: 'three',
  },
  {
    name: 'choices that nobody asked for',
    behave: ({ response }) => {
      const choices = Array.from({ length: 100_000 }, (_, at) => ({
        index: at + 1,
        delta: { role: 'assistant' },
      }));
      response.end(`${TEXT}data: ${JSON.stringify({ choices })}\n\n`.repeat(3) + ending(USAGE));
    },
    stream: true,
    // A busy machine may need longer for it than the deadlines of this test.
    outcomes: ['answer', 'INFERENCE_FAILED', 'REQUEST_TIMEOUT'],
  },
  {
    name: 'tool calls without end',
    behave: ({ response }) => {
      const tool_calls = Array.from({ length: 60_000 }, (_, at) => ({ id: `c${at}` }));
      response.end(deltas({ tool_calls }) + GOOD);
    },
    stream: true,
    outcomes: ['answer', 'INFERENCE_FAILED'],
  },
  {
    name: 'entries of details without end',
    behave: async ({ response }) => {
      for (let at = 0; at < 60_000 && !response.destroyed; at += 500) {
        const details = Array.from({ length: 500 }, (_, more) => ({ type: 'x', index: at + more, text: '' }));
        response.write(deltas({ reasoning_details: details }));
        await sleep(0);
      }
      response.end(GOOD);
    },
    stream: true,
    outcomes: ['answer', 'INFERENCE_FAILED'],
  },
];

export const STALLS: readonly Attack[] = [
  { name: 'no data', behave: () => undefined, outcomes: LATE },
  { name: 'no data after its status line', behave: raw(HEAD, false), outcomes: LATE },
  {
    name: 'a head that comes letter by letter',
    behave: async ({ response }) => {
      for (const letter of `${HEAD}x-slow: ${'a'.repeat(1_000)}`) {
        if (response.socket?.destroyed !== false) return;
        response.socket.write(letter);
        await sleep(50);
      }
    },
    outcomes: LATE,
  },
  {
    name: 'no data after its head',
    behave: ({ response }) => response.writeHead(200).flushHeaders(),
    outcomes: LATE,
  },
  {
    name: 'no data in the middle of an event',
    behave: ({ response }) => void response.write(`${TEXT}data: {"choi`),
    stream: true,
    outcomes: LATE,
  },
  {
    name: 'no data before its [DONE]',
    behave: ({ response }) => void response.write(TEXT + ending().replace('data: [DONE]\n\n', '')),
    stream: true,
    outcomes: LATE,
  },
  {
    name: 'a body that comes letter by letter',
    behave: async ({ response }) => {
      for (const letter of whole('x'.repeat(10_000), USAGE)) {
        if (response.destroyed) return;
        response.write(letter);
        await sleep(50);
      }
    },
    stream: false,
    outcomes: LATE,
  },
  {
    name: 'an error whose body never comes',
    behave: ({ response }) => response.writeHead(500, { 'content-length': 100 }).flushHeaders(),
    outcomes: FAILS,
  },
];
