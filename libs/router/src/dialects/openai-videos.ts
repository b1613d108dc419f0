import { BackendError, type PlannedRequest, readError } from '@svc/backend-calls';
import type { BackendJob, BackendJobStatus } from '@svc/contracts/inference';
import type { MediaOrder } from '@svc/contracts/ports';
import { jsonOrUndefined } from '@svc/runtime';
import { z } from 'zod';
import type { JobResponse, JobsDialect } from '../dialect/dialect.js';
import { type FormMember, formRequest } from './form-body.js';

const PATH = '/videos';

const pathOf = (job: string): string => `${PATH}/${encodeURIComponent(job)}`;

/**
 * OpenAI's `/videos`, as implemented by vLLM-Omni, SGLang and the simulator. Servers that make music use it
 * in the same way.
 */
export const jobs: JobsDialect = {
  fields: new Set(
    'seed guidance_scale guidance_scale_2 true_cfg_scale flow_shift boundary_ratio temperature top_k top_p bpm key_scale time_signature'.split(
      ' ',
    ),
  ),
  submit: submitJob,
  status: (job) => ({ method: 'GET', path: pathOf(job) }),
  content: (job) => ({ method: 'GET', path: `${pathOf(job)}/content` }),
  cancel: (job) => ({ method: 'DELETE', path: pathOf(job) }),
  readSubmitted,
  readStatus,
};

const Job = z.object({
  id: z.string().min(1).max(500),
  status: z.string(),
  error: z.object({ code: z.string().optional().catch(undefined) }).nullish(),
});

/** Codes of a refusal because of the content. */
const POLICY = /policy|moderation|safety|content_filter/i;

/** A form, because vLLM-Omni reads nothing else here. */
function submitJob(model: string, order: MediaOrder): PlannedRequest {
  const { prompt, seconds, width, height, fields, others, picture, inputs = [] } = order;
  const size: Record<string, string> =
    width === undefined || height === undefined ? {} : { size: `${width}x${height}` };
  const members = { ...others, ...fields, model, prompt, seconds: String(seconds), ...size };
  const parts: FormMember[] = Object.entries(members);
  const files = picture ? [{ ...picture, part: 'input_reference' }, ...inputs] : inputs;
  for (const { part, type, base64 } of files) {
    const name = `input.${type.slice(type.indexOf('/') + 1)}`;
    parts.push([part, { name, type, bytes: Buffer.from(base64, 'base64') }]);
  }
  return formRequest(PATH, parts);
}

function readSubmitted({ status, body }: JobResponse): BackendJob {
  const job = status >= 200 && status < 300 ? jobIn(body) : undefined;
  if (!job) throw new BackendError(status < 400 ? 502 : status, body);
  return { job: job.id };
}

/** vLLM-Omni's response to a question about a failed job has an error status, and the job as its body. */
function readStatus({ status, body }: JobResponse): BackendJobStatus {
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
