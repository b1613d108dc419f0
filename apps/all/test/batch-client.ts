import { setTimeout as sleep } from 'node:timers/promises';
import OpenAI, { toFile } from 'openai';
import type { Deployment } from './deployment.js';
import { Reconciliation, nanoCost } from './reconciliation.js';
import { type Cost, eventually } from './response-bodies.js';
import { scriptMessage } from './scripted-backend.js';

/** A line of a result file. */
export interface BatchResult {
  readonly custom_id: string | null;
  readonly response: {
    readonly status_code: number;
    readonly request_id: string;
    readonly body: Record<string, unknown>;
  } | null;
  readonly error: { readonly code: string; readonly message: string; readonly line: number } | null;
}

export type BatchEndpoint = OpenAI.BatchCreateParams['endpoint'];

const ENDED = ['completed', 'cancelled', 'expired', 'failed'];
const LOOK_MS = 100;

/** Makes batches with OpenAI's client. */
export class BatchClient {
  constructor(
    private readonly platform: Pick<Deployment, 'apiUrl'>,
    private readonly apiKey: string,
  ) {}

  /** A restarted platform has another address. */
  get openai(): OpenAI {
    return new OpenAI({ apiKey: this.apiKey, baseURL: this.platform.apiUrl });
  }

  async upload(text: string | Buffer): Promise<string> {
    const file = await toFile(Buffer.from(text), 'requests.jsonl');
    return (await this.openai.files.create({ file, purpose: 'batch' })).id;
  }

  async begin(
    text: string | Buffer,
    endpoint: BatchEndpoint = '/v1/chat/completions',
  ): Promise<OpenAI.Batch> {
    const id = await this.upload(text);
    return this.openai.batches.create({ input_file_id: id, endpoint, completion_window: '24h' });
  }

  read({ id }: Pick<OpenAI.Batch, 'id'>): Promise<OpenAI.Batch> {
    return this.openai.batches.retrieve(id);
  }

  /** Waits until something is true of a batch. */
  async until(
    batch: Pick<OpenAI.Batch, 'id'>,
    isTrue: (batch: OpenAI.Batch) => boolean | Promise<boolean>,
    withinMs = 60_000,
  ): Promise<OpenAI.Batch> {
    const endMs = performance.now() + withinMs;
    for (;;) {
      const now = await this.read(batch);
      if (await isTrue(now)) return now;
      if (performance.now() > endMs) throw new Error(`the batch is still ${JSON.stringify(now)}`);
      await sleep(LOOK_MS);
    }
  }

  ended(batch: Pick<OpenAI.Batch, 'id'>, withinMs?: number): Promise<OpenAI.Batch> {
    return this.until(batch, ({ status }) => ENDED.includes(status), withinMs);
  }

  async resultsIn(fileId: string | null | undefined): Promise<BatchResult[]> {
    if (fileId === null || fileId === undefined) return [];
    const text = await (await this.openai.files.content(fileId)).text();
    const lines = text.split('\n').filter((line) => line !== '');
    return lines.map((line) => JSON.parse(line) as BatchResult);
  }
}

/** A line that asks for a chat completion. */
export const chatLine = (id: string, body: object = {}): object => ({
  custom_id: id,
  method: 'POST',
  url: '/v1/chat/completions',
  body: { model: 'test-model', max_tokens: 8, messages: [{ role: 'user', content: `Say ${id}` }], ...body },
});

/** The text of a file of these lines; those that are texts as they are. */
export const linesText = (...lines: readonly unknown[]): string =>
  lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('');

/** A message that makes a scripted backend say yes. */
export const YES = scriptMessage({
  answer: {
    id: 'x',
    object: 'chat.completion',
    created: 1,
    model: 'scripted',
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'yes' } }],
    usage: { prompt_tokens: 100, completion_tokens: 8, total_tokens: 108 },
  },
});

/** The books of an account beside what these responses say, once as many charges are posted. */
export async function booksOf(
  accountId: string,
  results: readonly BatchResult[],
  platform: () => Deployment,
): Promise<Reconciliation> {
  const books = new Reconciliation(accountId, platform);
  for (const { response } of results)
    if (response) books.ended.set(response.request_id, nanoCost(response.body['cost'] as Cost));
  await eventually('all are posted', async () => {
    await books.faults();
    return books.charges.size >= books.ended.size;
  });
  return books;
}
