import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type PlannedRequest, jsonHeaders } from '@svc/backend-calls';
import { type Backend, type WorkflowSlot, slotIn } from '@svc/contracts/catalog';
import type { ImageOrder } from '@svc/contracts/inference';
import { z } from 'zod';
import type { BackendImage, Dialect, ServerCalls } from '../dialect/dialect.js';
import { faultOf, jsonOf } from './openai-images.js';
import { withoutTags } from './prompt-tags.js';

const SEEDS = 2 ** 32;

const FIRST_POLL_MS = 200;
const POLL_AT_MOST_MS = 2_000;
const POLL_GROWTH = 1.3;

/** One failed poll says nothing about the job. */
const FAILURES_AT_MOST = 5;

/**
 * ComfyUI. It queues the workflow of the backend, whose slots are filled with the request, and is polled
 * until its history has the result. Its peculiarities:
 * - It does not run a workflow again whose inputs have not changed, so every request has a seed.
 * - After a restart it has forgotten its jobs.
 * - Its history keeps prompts until they are deleted there.
 * - Earlier versions interrupt whatever runs, whichever job is named.
 * A workflow has no room for further fields.
 */
export const comfyui: Dialect = {
  headers: jsonHeaders,
  images: {
    make: {
      fields: new Set(),
      request: (backend, order) => ({ path: '/prompt', body: bodyOf({ prompt: filled(backend, order) }) }),
    },
    isQueued: true,
    async read(body, server) {
      const text = body.toString();
      const submitted = Submitted.safeParse(jsonOf(text));
      if (!submitted.success) throw faultOf(text, 'the response has no prompt_id');
      const { prompt_id: id } = submitted.data;
      try {
        const files = await finished(id, server);
        const images: BackendImage[] = [];
        for (const file of files)
          images.push({ base64: (await server.call(viewOf(file))).toString('base64') });
        return images;
      } catch (error) {
        if (!(error instanceof WorkflowFailed)) await withdraw(id, server);
        throw error;
      } finally {
        await quietly(server, post('/history', { delete: [id] }));
      }
    },
  },
};

/** The workflow has ended without images. */
class WorkflowFailed extends Error {}

const Submitted = z.object({ prompt_id: z.string().min(1) });

const File = z.object({ filename: z.string(), subfolder: z.string().default(''), type: z.string() });
type File = z.infer<typeof File>;

const Ended = z.object({
  outputs: z.record(z.string(), z.object({ images: z.array(File).optional() })),
  status: z.object({ status_str: z.string(), messages: z.array(z.unknown()).default([]) }).optional(),
});
const Failure = z.tuple([
  z.literal('execution_error'),
  z.object({ exception_type: z.string(), node_type: z.string() }),
]);
const History = z.record(z.string(), Ended);

/** Of each job: its number, its id, its workflow and more. */
const Jobs = z.array(z.tuple([z.unknown(), z.string()], z.unknown()));
const Queue = z.object({ queue_running: Jobs, queue_pending: Jobs });

function filled({ model, workflow = {} }: Backend, order: ImageOrder): object {
  const { prompt, negativePrompt, count, width, height, quality, steps, guidance, seed } = order;
  const values: Readonly<Record<WorkflowSlot, string | number | undefined>> = {
    model,
    prompt: withoutTags(prompt),
    negativePrompt: negativePrompt === undefined ? undefined : withoutTags(negativePrompt),
    count,
    width,
    height,
    quality,
    steps,
    guidance,
    seed: seed === undefined ? randomInt(SEEDS) : (seed + SEEDS) % SEEDS,
  };
  const byName = new Map<string, string | number | undefined>(Object.entries(values));
  const valueOf = (input: unknown): unknown => {
    const slot = slotIn(input);
    return slot ? (byName.get(slot.name) ?? slot.otherwise) : input;
  };
  return Object.fromEntries(
    Object.entries(workflow).map(([id, node]) => {
      const inputs = Object.entries(node.inputs).map(([name, input]) => [name, valueOf(input)] as const);
      return [id, { ...node, inputs: Object.fromEntries(inputs) }];
    }),
  );
}

/** Waits until a job has ended, and returns its files. */
async function finished(id: string, server: ServerCalls): Promise<readonly File[]> {
  let failures = 0;
  for (let pauseMs = FIRST_POLL_MS; ; pauseMs = Math.min(pauseMs * POLL_GROWTH, POLL_AT_MOST_MS)) {
    await sleep(pauseMs, undefined, { signal: server.signal });
    try {
      const files = await filesOf(id, server);
      if (files) return files;
      failures = 0;
    } catch (error) {
      failures += 1;
      if (error instanceof WorkflowFailed || server.signal.aborted || failures >= FAILURES_AT_MOST)
        throw error;
    }
  }
}

/** The files of a job that has ended. Throws if the server does not know the job, also between its lists. */
async function filesOf(id: string, server: ServerCalls): Promise<readonly File[] | undefined> {
  const path = `/history/${encodeURIComponent(id)}`;
  const ended = History.parse(jsonOf((await server.call({ method: 'GET', path })).toString()))[id];
  if (ended) return filesIn(ended);
  const { queue_running: running, queue_pending: pending } = await queueOf(() => server.call(QUEUE));
  if ([...running, ...pending].some(([, job]) => job === id)) return undefined;
  throw new Error('the server has lost the job');
}

/** Only those to keep, unless there are none; the others are previews. */
function filesIn({ outputs, status }: z.infer<typeof Ended>): readonly File[] {
  if (status?.status_str === 'error')
    throw new WorkflowFailed(`the workflow failed${reasonIn(status.messages)}`);
  const files = Object.values(outputs).flatMap(({ images }) => images ?? []);
  const kept = files.filter(({ type }) => type === 'output');
  const [first, ...more] = kept.length > 0 ? kept : files;
  if (!first) throw new WorkflowFailed('the workflow has made no images');
  return [first, ...more];
}

/** Without the message, which may have the prompt. */
function reasonIn(messages: readonly unknown[]): string {
  const failures = messages
    .map((message) => Failure.safeParse(message).data)
    .filter((found) => found !== undefined);
  const [, reason] = failures.at(-1) ?? [];
  return reason ? `: ${reason.exception_type} in a node ${reason.node_type}` : '';
}

const viewOf = (file: File): PlannedRequest => ({
  method: 'GET',
  path: `/view?${new URLSearchParams(file).toString()}`,
});

const bodyOf = (value: object): Uint8Array[] => [Buffer.from(JSON.stringify(value))];

const post = (path: string, body: object): PlannedRequest => ({ path, body: bodyOf(body) });

const QUEUE: PlannedRequest = { method: 'GET', path: '/queue' };

const queueOf = async (call: () => Promise<Buffer>): Promise<z.infer<typeof Queue>> =>
  Queue.parse(jsonOf((await call()).toString()));

/** Ends a job that waits or runs. */
async function withdraw(id: string, server: ServerCalls): Promise<void> {
  await quietly(server, post('/queue', { delete: [id] }));
  const { queue_running: running } = await queueOf(() => server.cleanUp(QUEUE)).catch(() => NO_JOBS);
  if (running.some(([, job]) => job === id)) await quietly(server, post('/interrupt', { prompt_id: id }));
}

const NO_JOBS: z.infer<typeof Queue> = { queue_running: [], queue_pending: [] };

/** What cannot be cleaned up is left to the server. */
async function quietly(server: ServerCalls, request: PlannedRequest): Promise<void> {
  await server.cleanUp(request).catch(() => undefined);
}
