import { call, send } from '../api/client.js';
import { CallError } from '../api/call-error.js';
import type { WorkTimes, MadeMedium, ShowTimes } from './works.js';

/** What a form has: the model, the prompt and the chosen options by the names of the API. */
export interface MediumOrder {
  readonly model: string;
  readonly prompt: string;
  readonly options: Readonly<Record<string, string | number | boolean>>;
}

const bytesOf = (base64: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));

export async function makeImage({ model, prompt }: MediumOrder): Promise<MadeMedium> {
  const body = { model, prompt, response_format: 'b64_json' as const };
  const { data, output_format: format, cost } = await call('POST', '/api/v1/images/generations', { body });
  const blob = new Blob([bytesOf(data[0]?.b64_json ?? '')], { type: `image/${format}` });
  return { url: URL.createObjectURL(blob), costUsd: cost.usd };
}

export async function makeSpeech({ model, prompt, options }: MediumOrder): Promise<MadeMedium> {
  const body = { model, input: prompt, ...options };
  const response = await send('POST', '/api/v1/audio/speech', { body });
  return { url: URL.createObjectURL(await response.blob()) };
}

const POLL_MS = 1_500;
const LONGEST_WAIT_MS = 30_000;

/** A poll that was refused or lost says nothing about its job. */
const isPassing = (error: unknown): error is CallError =>
  error instanceof CallError && [0, 429, 502, 503, 504].includes(error.status);

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

type JobState = { readonly blob: Blob } | { readonly times?: WorkTimes; readonly waitMs: number };

async function pollJob(path: string, body: object): Promise<JobState> {
  try {
    const response = await send('POST', path, { body });
    if (!response.headers.get('content-type')?.startsWith('application/json'))
      return { blob: await response.blob() };
    const progress = (await response.json()) as {
      execution_duration: number;
      average_execution_time: number;
    };
    const times = { runMs: progress.execution_duration, usualMs: progress.average_execution_time };
    return { times, waitMs: POLL_MS };
  } catch (error) {
    if (!isPassing(error)) throw error;
    const waitMs = (error.details.retryAfterSeconds ?? 0) * 1_000;
    return { waitMs: Math.min(Math.max(waitMs, POLL_MS), LONGEST_WAIT_MS) };
  }
}

/** Starts a job and waits for what it makes; the service ends a job that takes too long. */
async function runJob(group: 'video' | 'audio', order: MediumOrder, report: ShowTimes): Promise<MadeMedium> {
  const { model, prompt, options } = order;
  const queued = await send('POST', `/api/v1/${group}/queue`, { body: { model, prompt, ...options } });
  const { queue_id } = (await queued.json()) as { queue_id: string };
  let times: WorkTimes = { runMs: 0, usualMs: 0 };
  for (;;) {
    const state = await pollJob(`/api/v1/${group}/retrieve`, { model, queue_id });
    if ('blob' in state) return { url: URL.createObjectURL(state.blob) };
    times = state.times ?? times;
    if (!report(times)) throw new Error('The session has ended.');
    await sleep(state.waitMs);
  }
}

export const makeVideo = (order: MediumOrder, report: ShowTimes): Promise<MadeMedium> =>
  runJob('video', order, report);

export const makeMusic = (order: MediumOrder, report: ShowTimes): Promise<MadeMedium> =>
  runJob('audio', order, report);
