import type { WireCall } from '@svc/contracts/inference';
import { describe, expect, it } from 'vitest';
import { remotePorts } from './remote-ports.js';
import type { RouterPorts } from './router-ports.js';
import { completeFor, streamFor } from './serve-call.js';

const { signal } = new AbortController();
const origin = { requestId: 'r', accountId: 'a', model: 'm' };
const head = { ...origin, backend: 'gpu-1' };
const files = [{ name: 'a.png', type: 'image/png', bytes: Buffer.from('PNG') }];
const [file] = files as [(typeof files)[0]];

const order = { prompt: 'a', count: 1, width: 64, height: 64, others: {} };
const edit = { ...order, masked: false };
const texts = { inputs: ['a'], dimensions: 2, isCustom: false, others: {} };
const moderated = { inputs: ['a', [{ type: 'text' as const, text: 'b' }]] };
const ranked = { query: 'q', documents: ['a'], others: {} };
const text = { input: 'a', voice: 'v', format: 'mp3', isStreamed: false, others: {} } as const;
const video = { prompt: 'a', seconds: 4, fields: {}, others: {} };
const audio = { timestamps: ['word' as const], others: {} };
const signed = { requestId: 'r-2', algorithm: 'ecdsa' as const };
const nonce = 'ab'.repeat(32);
const rpc = [Buffer.from('{"id":0,"method":"x"}')];

/** Any ports, of this process or another one. */
type Ports = Pick<
  RouterPorts,
  'embeddings' | 'enclaves' | 'images' | 'jobs' | 'nodes' | 'scores' | 'speech' | 'transcriptions'
>;

type PortCall = (ports: Ports) => Promise<unknown>;

/** A call of each port, and what releases of either side send for it. Processes of two releases meet. */
const CALLS: readonly (readonly [string, PortCall, head: object, body: object])[] = [
  ['embeddings', (ports) => ports.embeddings.vectors({ ...origin, texts }, signal), origin, texts],
  ['image', (ports) => ports.images.make({ ...origin, kind: 'image', order }, signal), origin, order],
  [
    'image-edit',
    (ports) => ports.images.make({ ...origin, kind: 'image-edit', order: edit, files }, signal),
    { ...origin, files },
    edit,
  ],
  [
    'image-upscale',
    (ports) =>
      ports.images.make({ ...origin, kind: 'image-upscale', order: { count: 1, factor: 2 }, files }, signal),
    { ...origin, files },
    { count: 1, factor: 2 },
  ],
  [
    'image-cutout',
    (ports) => ports.images.make({ ...origin, kind: 'image-cutout', order: { count: 1 }, files }, signal),
    { ...origin, files },
    { count: 1 },
  ],
  ['rerank', (ports) => ports.scores.rank({ ...origin, order: ranked }, signal), origin, ranked],
  [
    'moderation',
    (ports) => ports.scores.moderate({ ...origin, order: moderated }, signal),
    origin,
    moderated,
  ],
  ['speech', (ports) => ports.speech.speak({ ...origin, text }, signal), origin, text],
  [
    'transcription',
    (ports) => ports.transcriptions.transcribe({ ...origin, kind: 'transcription', audio, file }, signal),
    { ...origin, files },
    audio,
  ],
  [
    'translation',
    (ports) => ports.transcriptions.transcribe({ ...origin, kind: 'translation', audio, file }, signal),
    { ...origin, files },
    audio,
  ],
  ['job-submit', (ports) => ports.jobs.submit({ ...origin, order: video }, signal), origin, video],
  ['job-status', (ports) => ports.jobs.status({ ...head, job: 'j' }, signal), head, { job: 'j' }],
  ['job-content', (ports) => ports.jobs.content({ ...head, job: 'j' }, signal), head, { job: 'j' }],
  ['job-cancel', (ports) => ports.jobs.cancel({ ...head, job: 'j' }, signal), head, { job: 'j' }],
  ['tee-attestation', (ports) => ports.enclaves.report({ ...head, nonce }, signal), head, { nonce }],
  ['tee-signature', (ports) => ports.enclaves.signature({ ...origin, signed }, signal), origin, signed],
  [
    'rpc',
    ({ nodes }) =>
      nodes.call({ requestId: 'r', accountId: 'a', network: 'base', body: rpc, isSend: false }, signal),
    { ...origin, model: '#crypto-rpc-base' },
    { id: 0, method: 'x' },
  ],
  [
    'rpc-send',
    ({ nodes }) =>
      nodes.call({ requestId: 'r', accountId: 'a', network: 'base', body: rpc, isSend: true }, signal),
    { ...origin, model: '#crypto-rpc-base' },
    { id: 0, method: 'x' },
  ],
];

/** Thrown in place of a response. */
const NO_RESPONSE = new Error('no response');

/** What the port sends to another process for a call, and whether its response is streamed. */
async function sentBy(call: PortCall) {
  const sent: { call: WireCall; isStream: boolean }[] = [];
  const record = (isStream: boolean) => (wire: WireCall) => {
    sent.push({ call: wire, isStream });
    return Promise.reject<never>(NO_RESPONSE);
  };
  await expect(call(remotePorts(record(false), record(true)))).rejects.toBe(NO_RESPONSE);
  const [only] = sent;
  if (!only || sent.length !== 1) throw new Error('a call is sent once');
  return only;
}

/** A router whose ports record with what they are called. */
function recordingRouter(calls: unknown[]): RouterPorts {
  const recorded = (name: string) => (call: unknown) => {
    calls.push([name, call]);
    return Promise.reject<never>(NO_RESPONSE);
  };
  const port = (name: string): object =>
    new Proxy({}, { get: (_, method) => recorded(`${name}.${String(method)}`) });
  return new Proxy({} as RouterPorts, {
    get: (_, name) => (name === 'complete' || name === 'stream' ? recorded(name) : port(String(name))),
  });
}

describe('a call to a router of another release', () => {
  it.each(CALLS)('has the same head and body as before: %s', async (...row) => {
    const [kind, call, head, body] = row;
    const { call: sent } = await sentBy(call);
    const { body: bytes, ...others } = sent;
    expect(others).toEqual({ ...head, kind });
    expect(JSON.parse(Buffer.concat(bytes).toString())).toEqual(body);
  });

  it.each(CALLS)('comes to the port of its kind with what it was made of: %s', async (_, call) => {
    const { call: sent, isStream } = await sentBy(call);
    const here: unknown[] = [];
    const there: unknown[] = [];
    await expect(call(recordingRouter(here))).rejects.toBe(NO_RESPONSE);
    const serve = isStream ? streamFor : completeFor;
    await expect(serve(recordingRouter(there), sent, signal)).rejects.toBe(NO_RESPONSE);
    expect(there).toEqual(here);
    expect(here.length).toBe(1);
  });

  it.each(CALLS)('is rejected if its response cannot be as requested: %s', async (_, call) => {
    const { call: sent, isStream } = await sentBy(call);
    const serve = isStream ? completeFor : streamFor;
    const served: Promise<unknown> = serve(recordingRouter([]), sent, signal);
    await expect(served).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  });

  it.each(CALLS.filter(([kind]) => !kind.startsWith('rpc')))(
    'is rejected if its body is not what its port takes: %s',
    async (_, call) => {
      const { call: sent, isStream } = await sentBy(call);
      const serve = isStream ? streamFor : completeFor;
      for (const text of ['{"n":1', '{"n":1}', '[]']) {
        const served = serve(recordingRouter([]), { ...sent, body: [Buffer.from(text)] }, signal);
        await expect(served).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
      }
    },
  );
});
