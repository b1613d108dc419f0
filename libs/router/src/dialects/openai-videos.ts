import type { BackendJob, BackendJobStatus, JobCallKind } from '@svc/contracts/inference';
import type { MediaOrder } from '@svc/contracts/ports';
import { jsonOrUndefined } from '@svc/runtime';
import { z } from 'zod';
import { BackendError } from './backend-error.js';
import type { FormMember, JobRequest, JobResponse } from './dialect.js';
import { formWriter } from './form-body.js';
import { readError } from './openai-errors.js';

/**
 * OpenAI's `/videos`, as implemented by vLLM-Omni, SGLang and the simulator. Servers that make music use it
 * in the same way.
 */
const PATH = '/videos';

export const jobPaths: Readonly<Record<JobCallKind, string>> = {
  'job-submit': PATH,
  'job-status': PATH,
  'job-content': PATH,
  'job-cancel': PATH,
};

const Job = z.object({
  id: z.string().min(1).max(500),
  status: z.string(),
  error: z.object({ code: z.string().optional().catch(undefined) }).nullish(),
});

/** Codes of a refusal because of the content. */
const POLICY = /policy|moderation|safety|content_filter/i;

/** A form, because vLLM-Omni reads nothing else here. */
export function submitJob(model: string, order: MediaOrder): JobRequest {
  const { prompt, seconds, width, height, fields, others, picture } = order;
  const size: Record<string, string> =
    width === undefined || height === undefined ? {} : { size: `${width}x${height}` };
  const members = { ...others, ...fields, model, prompt, seconds: String(seconds), ...size };
  const form = formWriter();
  const parts: FormMember[] = Object.entries(members);
  if (picture) {
    const { type, base64 } = picture;
    const name = `input.${type.slice(type.indexOf('/') + 1)}`;
    parts.push(['input_reference', { name, type, bytes: Buffer.from(base64, 'base64') }]);
  }
  const headers = { 'content-type': form.contentType };
  return { method: 'POST', path: PATH, headers, body: form.body(parts) };
}

export function aboutJob(kind: Exclude<JobCallKind, 'job-submit'>, { job }: BackendJob): JobRequest {
  const path = `${PATH}/${encodeURIComponent(job)}`;
  switch (kind) {
    case 'job-status':
      return { method: 'GET', path };
    case 'job-content':
      return { method: 'GET', path: `${path}/content` };
    case 'job-cancel':
      return { method: 'DELETE', path };
  }
}

export function readSubmitted({ status, body }: JobResponse): BackendJob {
  const job = status >= 200 && status < 300 ? jobIn(body) : undefined;
  if (!job) throw new BackendError(status < 400 ? 502 : status, body);
  return { job: job.id };
}

/** vLLM-Omni's response to a question about a failed job has an error status, and the job as its body. */
export function readJobStatus({ status, body }: JobResponse): BackendJobStatus {
  const job = jobIn(body);
  if (job?.status === 'failed') return failed(body, job);
  if (status === 404) return { state: 'unknown' };
  if (status !== 200 || !job) throw new BackendError(status < 400 ? 502 : status, body);
  return { state: job.status === 'completed' ? 'completed' : 'running' };
}

function failed(body: string, { error }: z.infer<typeof Job>): BackendJobStatus {
  const { message } = readError(body);
  const isRefused = POLICY.test(error?.code ?? '');
  return { state: 'failed', isRefused, ...(message !== undefined && { message }) };
}

function jobIn(body: string): z.infer<typeof Job> | undefined {
  return Job.safeParse(jsonOrUndefined(body)).data;
}
