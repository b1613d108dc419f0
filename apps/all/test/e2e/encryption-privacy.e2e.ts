import { randomBytes } from 'node:crypto';
import { open, readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Simulator, startSimulator } from '@svc/simulator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chunksOf, eventually } from '../response-bodies.js';
import { ENCRYPTED_MODEL, enclaveAt } from '../enclaves.js';
import { EncryptionSession } from '../encryption-session.js';
import { OtlpReceiver } from '../otlp-receiver.js';
import { Platform, type TestAccount } from '../platform.js';
import { isClustered } from '../target.js';

let enclave: Simulator;
let receiver: OtlpReceiver;
let platform: Platform;
let account: TestAccount;
let session: EncryptionSession;

beforeAll(async () => {
  enclave = await startSimulator();
  receiver = await OtlpReceiver.start();
  platform = await Platform.start({
    models: [{ ...ENCRYPTED_MODEL, backends: [enclaveAt(enclave.url)] }],
    env: {
      SVC_LOG_LEVEL: 'trace',
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_TRACES_SAMPLER_ARG: '1',
      OTEL_BSP_SCHEDULE_DELAY: '50',
      OTEL_METRIC_EXPORT_INTERVAL: '300',
      OTEL_LOGS_EXPORTER: 'otlp',
    },
  });
  account = await platform.account();
  session = await EncryptionSession.with(enclave);
});

afterAll(async () => {
  await platform.stop();
  receiver.close();
  await enclave.close();
});

/** A word that occurs nowhere else. */
const newCanary = (): string => randomBytes(32).toString('hex').replaceAll(/\d/g, 'z');

/** Has the enclave repeat a canary. Returns the ciphertexts of both directions. */
async function repeatEncrypted(canary: string): Promise<string[]> {
  const chat = session.chat([`Say exactly "${canary}"`]);
  const response = await platform.chat(account.apiKey, chat, { headers: session.headers });
  const { chunks } = await chunksOf(response);
  const pieces = chunks.flatMap(({ choices }) => choices).map(({ delta }) => delta.content ?? '');
  const sent = pieces.filter((piece) => piece !== '');
  expect(sent.map((piece) => session.open(piece)).join('')).toBe(canary);
  return [...chat.messages.map(({ content }) => content), ...sent];
}

async function repeatPlain(canary: string): Promise<string> {
  const messages = [{ role: 'user', content: `Say exactly "${canary}"` }];
  const response = await platform.chat(account.apiKey, { model: 'encrypted', stream: true, messages });
  const { text } = await chunksOf(response);
  expect(text).toBe(canary);
  return response.headers.get('x-request-id') ?? '';
}

const PIECE_BYTES = 16 * 1_048_576;

/** The writable memory of a process, in pieces with some overlap. */
async function* memoryOf(pid: number, overlap: number): AsyncGenerator<Buffer> {
  const memory = await open(`/proc/${pid}/mem`, 'r');
  try {
    for (const line of (await readFile(`/proc/${pid}/maps`, 'latin1')).split('\n')) {
      const [, from = '', to = ''] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? [];
      const end = Number.parseInt(to, 16);
      for (let at = Number.parseInt(from, 16); at < end; at += PIECE_BYTES) {
        const piece = Buffer.alloc(Math.min(PIECE_BYTES + overlap, end - at));
        // A mapping may end meanwhile.
        const { bytesRead } = await memory.read(piece, 0, piece.length, at).catch(() => ({ bytesRead: 0 }));
        yield piece.subarray(0, bytesRead);
      }
    }
  } finally {
    await memory.close();
  }
}

/** Which of these texts are in the memory of a process, in either form that JavaScript has. */
async function foundInMemory(pid: number, texts: readonly string[]): Promise<string[]> {
  const needles = texts.flatMap((text) =>
    (['latin1', 'utf16le'] as const).map((form) => ({ text, bytes: Buffer.from(text, form) })),
  );
  const found = new Set<string>();
  for await (const piece of memoryOf(pid, Math.max(...needles.map(({ bytes }) => bytes.length))))
    for (const { text, bytes } of needles) if (piece.includes(bytes)) found.add(text);
  return [...found];
}

/** Which of these texts are in any file of a folder. */
async function foundInFiles(folder: string, texts: readonly string[]): Promise<string[]> {
  const found = new Set<string>();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    // A database removes files while it runs.
    const bytes = await readFile(join(entry.parentPath, entry.name)).catch(() => Buffer.alloc(0));
    for (const text of texts) if (bytes.includes(text)) found.add(text);
  }
  return [...found];
}

describe('the texts of an encrypted chat', () => {
  it.skipIf(isClustered())(
    'are never in the memory of the gateway, unlike those of a plain one',
    async () => {
      const { pid } = platform.service;
      const [hidden, plain] = [newCanary(), newCanary()];
      await repeatEncrypted(hidden);
      await repeatPlain(plain);
      // The control: what is there is found.
      expect(await foundInMemory(pid, [hidden, plain])).toEqual([plain]);
    },
  );

  it('are in no log, trace, metric or table, encrypted or not', async () => {
    const canary = newCanary();
    const ciphertexts = await repeatEncrypted(canary);
    const requestId = await repeatPlain(newCanary());
    // Tails, since each begins with a key.
    const texts = [canary, ...ciphertexts.map((text) => text.slice(-64))];
    const sent = (): string => Buffer.concat(receiver.bytes).toString('latin1');
    await eventually(
      'the later request is logged and exported',
      async () => (await platform.log()).includes(requestId) && sent().includes(requestId),
    );
    const log = (await platform.log()) + sent();
    expect(texts.filter((text) => log.includes(text))).toEqual([]);
    // A cluster's database is elsewhere.
    const folder = platform.dataDir;
    const inFiles = isClustered() ? [] : await foundInFiles(folder, [...texts, requestId]);
    expect(inFiles).toEqual(isClustered() ? [] : [requestId]);
  });
});
