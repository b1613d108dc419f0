import {
  ANSWERS,
  type Attack,
  FAILS,
  GOOD,
  HEAD,
  TEXT,
  USAGE,
  deltas,
  raw,
  sends,
  streams,
} from './backend-attacks.js';
import { type Behaviour, ending, piece, whole } from './hostile-backend.js';

export const CUTS: readonly Attack[] = [
  { name: 'a cut before its head', behave: ({ response }) => void response.destroy(), outcomes: FAILS },
  { name: 'a cut in its head', behave: raw(HEAD), outcomes: FAILS },
  { name: 'a reset', behave: ({ response }) => void response.socket?.resetAndDestroy(), outcomes: FAILS },
  {
    name: 'a reset in mid-stream',
    behave: ({ response }) => {
      response.write(TEXT);
      setTimeout(() => response.socket?.resetAndDestroy(), 50);
    },
    outcomes: FAILS,
  },
  {
    name: 'a cut in a chunk',
    behave: raw(`${HEAD}transfer-encoding: chunked\r\n\r\nfff\r\n${TEXT}`),
    outcomes: FAILS,
  },
  {
    name: 'a body shorter than it said',
    behave: raw(`HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n${TEXT}`),
    outcomes: FAILS,
  },
  { name: 'an end in an event', behave: streams(`${TEXT}data: {"choi`), stream: true, outcomes: FAILS },
  {
    name: 'an end without its finish reason and [DONE]',
    behave: streams(TEXT),
    stream: true,
    outcomes: FAILS,
  },
  { name: 'nothing', behave: sends(''), outcomes: FAILS },
];

const packed = Buffer.from('H4sIAAAAAAAAA+3BAQ0AAADCoPdPbQ43oAAAAAAAAAAAAAAAAAAAAA==', 'base64');
const NESTED = '['.repeat(200_000);

export const FORMS: readonly Attack[] = [
  { name: 'an object with nothing in it', behave: sends('{}'), outcomes: FAILS },
  {
    name: 'events without a choice',
    behave: streams('data: {}\n\ndata: {"choices":[]}\n\ndata: [DONE]\n\n'),
    stream: true,
    outcomes: FAILS,
  },
  {
    name: 'bytes that are no UTF-8',
    behave: streams(
      Buffer.concat([
        Buffer.from(TEXT),
        Buffer.from([0xff, 0xfe, 0xc0, 0x80]),
        Buffer.from('\n\n'),
        Buffer.from(GOOD),
      ]),
    ),
    stream: true,
    outcomes: ANSWERS,
    says: 'three',
  },
  {
    name: 'text that is no UTF-8',
    behave: streams(Buffer.from(piece('caf\u00e9 ') + GOOD, 'latin1')),
    stream: true,
    outcomes: ANSWERS,
    says: 'caf\ufffd',
  },
  { name: 'zeros', behave: sends(Buffer.alloc(100_000)), outcomes: FAILS },
  {
    name: 'what is not HTTP',
    behave: raw('SSH-2.0-OpenSSH_9.9\r\n'.repeat(10)),
    outcomes: FAILS,
  },
  {
    name: 'two lengths',
    behave: raw('HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 5\r\n\r\n{}{}{'),
    outcomes: FAILS,
  },
  {
    name: 'a page',
    behave: sends('<html>welcome</html>', '<html>welcome</html>', { 'content-type': 'text/html' }),
    outcomes: FAILS,
  },
  {
    name: 'events as something else',
    behave: sends(GOOD, whole('one two three', USAGE), { 'content-type': 'application/octet-stream' }),
    outcomes: ANSWERS,
    says: 'three',
  },
  { name: 'an encoding', behave: sends(packed, packed, { 'content-encoding': 'gzip' }), outcomes: FAILS },
  {
    name: 'a redirect',
    behave: ({ response }) =>
      void response.writeHead(307, { location: 'http://169.254.169.254/latest/meta-data/' }).end(),
    outcomes: FAILS,
  },
  { name: 'an empty 204', behave: ({ response }) => void response.writeHead(204).end(), outcomes: FAILS },
  {
    name: 'another protocol',
    behave: raw('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
    outcomes: FAILS,
  },
  {
    name: 'two [DONE]s, and an answer after them',
    behave: streams(`${TEXT}data: [DONE]\n\n${piece('more')}${GOOD}`),
    stream: true,
    outcomes: ANSWERS,
    says: 'three',
    hides: 'more',
  },
  {
    name: 'CRLF',
    behave: streams(GOOD.replaceAll('\n', '\r\n')),
    stream: true,
    outcomes: ANSWERS,
    says: 'three',
  },
  {
    name: 'CR',
    behave: streams(GOOD.replaceAll('\n', '\r')),
    stream: true,
    outcomes: ANSWERS,
    says: 'three',
  },
  {
    name: 'a mark of its byte order',
    behave: streams(`\ufeff${GOOD}`),
    stream: true,
    outcomes: ANSWERS,
    says: 'three',
  },
  {
    name: 'JSON that nests deeply',
    behave: sends(`data: {"choices":[{"delta":{"content":${NESTED}\n\n`, `{"choices":${NESTED}`),
    outcomes: FAILS,
  },
  {
    name: 'JSON that nests deeply, and holds',
    behave: sends(
      `data: {"choices":[],"x":${NESTED}${NESTED.replaceAll('[', ']')}}\n\n${GOOD}`,
      `{"choices":[],"x":${NESTED}${NESTED.replaceAll('[', ']')}}`,
    ),
    outcomes: ['answer', 'INFERENCE_FAILED'],
  },
  {
    name: 'deltas that nest deeply',
    behave: sends(
      `data: {"choices":[{"delta":{"content":"x","y":${NESTED}${NESTED.replaceAll('[', ']')}}}]}\n\n${GOOD}`,
      `{"choices":[{"message":{"content":"x","y":${NESTED}${NESTED.replaceAll('[', ']')}}}]}`,
    ),
    outcomes: ['answer', 'INFERENCE_FAILED'],
  },
  {
    name: 'a body that nests as deeply as it may be long',
    behave: sends('', '['.repeat(7_900_000)),
    stream: false,
    outcomes: FAILS,
  },
  { name: 'JSON that is no object', behave: sends(`data: 7\n\n${GOOD}`, '[]'), outcomes: FAILS },
  {
    name: 'members of every type in the wrong place',
    behave: sends(
      deltas({ content: 7, tool_calls: { a: 1 }, role: [], reasoning_content: {} }, 'x') + GOOD,
      '{"choices":{"0":1},"usage":[],"created":"x"}',
    ),
    outcomes: ['answer', 'INFERENCE_FAILED'],
  },
  {
    name: 'members that name prototypes',
    behave: sends(
      `data: {"__proto__":{"a":1},"constructor":1,"choices":[{"index":0,"delta":{"__proto__":{"content":"x"}}}]}\n\n${GOOD}`,
      `{"__proto__":{"a":1},"choices":[{"message":{"__proto__":{"content":"x"},"content":"three"}}]}`,
    ),
    outcomes: ['answer', 'INFERENCE_FAILED'],
  },
  {
    name: 'an event of 15 MB',
    behave: streams(piece('x'.repeat(15_000_000)) + GOOD),
    stream: true,
    outcomes: ['answer', 'INFERENCE_FAILED'],
  },
];

const lie = (usage: object): Behaviour => sends(TEXT + ending(usage), whole('one two three', usage));

/** Counts that no completion of three words can have. */
export const LIES: readonly Attack[] = [
  { completion_tokens: 1e7 },
  { completion_tokens: Number.MAX_SAFE_INTEGER },
  { completion_tokens: Number.MAX_VALUE },
  { completion_tokens: -1 },
  { completion_tokens: 0.5 },
  { completion_tokens: '3000000' },
  { prompt_tokens: 1e9 },
  { prompt_tokens: Number.MAX_SAFE_INTEGER, completion_tokens: Number.MAX_SAFE_INTEGER },
  { prompt_tokens: -5, completion_tokens: -5 },
  { prompt_tokens_details: { cached_tokens: 1e12 } },
  { completion_tokens_details: { reasoning_tokens: 1e12 } },
].map((counts) => ({
  name: `counts of ${JSON.stringify(counts)}`,
  behave: lie({ ...USAGE, ...counts }),
  outcomes: ANSWERS,
}));
