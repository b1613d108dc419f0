import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { ApiError, invalidRequest } from '../http/api-error.js';
import { partsOf } from '../http/form-parts.js';
import { faultError, isFault } from '../request/faults.js';
import type { Overrides } from '../request/overrides.js';
import { tinyMp3, tinyMp4 } from './tiny-media.js';

const DEFAULT_DELAY_MS = 1_000;
const DEFAULT_SECONDS = 4;
const DEFAULT_SIZE = '1280x720';
const DEFAULT_RETRY_S = 1;
/** The oldest jobs beyond this number are forgotten. */
const JOBS_AT_MOST = 10_000;

interface VideoJob {
  readonly id: string;
  readonly model: string;
  readonly prompt: string;
  readonly seconds: number;
  readonly size: string;
  readonly createdMs: number;
  readonly delayMs: number;
  readonly isMusic: boolean;
  readonly faults: ReadonlySet<string>;
  /** The names and types of its files. */
  readonly files: readonly string[];
}

/**
 * Serves OpenAI's `/videos`: a job is completed after a delay, with a grey video or silence of the requested
 * length. Settings follow the model's name, as in `clip;delay-ms=500;fault=stuck` or `song;media=mp3`. Faults
 * other than those with an error status: `stuck`, `failed`, `refused`, `lost`, `no-content`, `cut-content`,
 * `html`, `dropped`.
 */
export function addVideoRoutes(app: FastifyInstance, takeDefaults: () => Overrides): void {
  const jobs = new Map<string, VideoJob>();
  void app.register((scope, _options, done) => {
    scope.addContentTypeParser('multipart/form-data', { parseAs: 'buffer' }, (_request, body, parsed) =>
      parsed(null, body),
    );
    scope.post('/v1/videos', ({ body, headers }, reply) => {
      const type = headers['content-type'] ?? '';
      const job = readJob(body as Buffer, type, takeDefaults());
      if (!job.faults.has('lost')) jobs.set(job.id, job);
      const [oldest] = jobs.keys();
      if (jobs.size > JOBS_AT_MOST && oldest !== undefined) jobs.delete(oldest);
      // The job was accepted, but the client does not learn its id.
      if (job.faults.has('dropped')) return drop(reply);
      return reply.send(view(job));
    });
    done();
  });
  const find = (id: string): VideoJob => {
    const job = jobs.get(id);
    if (job) return job;
    throw new ApiError(404, `Video ${id} not found.`, { code: 'not_found' });
  };
  app.get<{ Params: { id: string } }>('/v1/videos/:id', ({ params }, reply) => {
    const job = find(params.id);
    // As vLLM-Omni does.
    return reply.code(stateOf(job) === 'failed' ? 500 : 200).send(view(job));
  });
  app.get('/v1/videos', () => ({ object: 'list', data: Array.from(jobs.values(), view) }));
  app.delete<{ Params: { id: string } }>('/v1/videos/:id', ({ params }) => {
    find(params.id);
    jobs.delete(params.id);
    return { id: params.id, object: 'video.deleted', deleted: true };
  });
  app.get<{ Params: { id: string } }>('/v1/videos/:id/content', ({ params }, reply) =>
    sendContent(find(params.id), reply),
  );
}

function readJob(body: Buffer, type: string, defaults: Overrides): VideoJob {
  const parts = partsOf(body, type);
  const text = (name: string): string | undefined =>
    parts.find((part) => part.name === name && part.type === undefined)?.content.toString();
  const prompt = text('prompt');
  if (prompt === undefined || prompt === '') throw invalidRequest("'prompt' is required.", 'prompt');
  const [model = '', ...settings] = (text('model') ?? '').split(';');
  const named = new Map(settings.map((setting) => setting.split('=', 2) as [string, string | undefined]));
  const faults = new Set([...(named.get('fault')?.split(',') ?? []), ...(defaults.faults ?? [])]);
  const refusal = faultError(new Set([...faults].filter(isFault)), defaults.retryAfterS ?? DEFAULT_RETRY_S);
  if (refusal) throw refusal;
  const size = text('size') ?? DEFAULT_SIZE;
  if (!/^[1-9]\d{1,3}x[1-9]\d{1,3}$/.test(size)) throw invalidRequest("'size' must be WxH.", 'size');
  return {
    id: `video_${randomUUID()}`,
    model,
    prompt,
    size,
    faults,
    createdMs: Date.now(),
    seconds: Number(text('seconds') ?? DEFAULT_SECONDS),
    delayMs: Number(named.get('delay-ms') ?? defaults.delayMs ?? DEFAULT_DELAY_MS),
    isMusic: named.get('media') === 'mp3',
    files: parts.flatMap((part) => (part.type === undefined ? [] : [`${part.name} ${part.type}`])),
  };
}

function stateOf({ createdMs, delayMs, faults }: VideoJob): 'in_progress' | 'completed' | 'failed' {
  if (faults.has('stuck') || Date.now() < createdMs + delayMs) return 'in_progress';
  return faults.has('failed') || faults.has('refused') ? 'failed' : 'completed';
}

const FAILED = { code: 'server_error', message: 'CUDA out of memory' };
const REFUSED = { code: 'content_policy_violation', message: 'The prompt is not allowed.' };

function view(job: VideoJob): object {
  const { id, model, prompt, size, seconds, createdMs, delayMs, faults, files } = job;
  const status = stateOf(job);
  const error = faults.has('refused') ? REFUSED : FAILED;
  const share = Math.min(1, (Date.now() - createdMs) / Math.max(1, delayMs));
  return {
    id,
    object: 'video',
    model,
    prompt,
    size,
    seconds: String(seconds),
    status,
    progress: Math.floor(share * 100),
    created_at: Math.floor(createdMs / 1_000),
    error: status === 'failed' ? error : null,
    files,
  };
}

function sendContent(job: VideoJob, reply: FastifyReply): unknown {
  const { faults, isMusic, seconds, size } = job;
  if (stateOf(job) !== 'completed' || faults.has('no-content'))
    throw new ApiError(404, 'The video has no content.', { code: 'not_found' });
  if (faults.has('html')) return reply.type('text/html').send('<html>Bad gateway</html>');
  const [width = 0, height = 0] = size.split('x').map(Number);
  const bytes = isMusic ? tinyMp3(seconds) : tinyMp4({ width, height, seconds });
  if (!faults.has('cut-content')) return reply.type(isMusic ? 'audio/mpeg' : 'video/mp4').send(bytes);
  reply.hijack();
  reply.raw.writeHead(200, { 'content-length': String(bytes.length) });
  reply.raw.write(bytes.subarray(0, bytes.length / 2), () => reply.raw.destroy());
  return reply;
}

function drop(reply: FastifyReply): FastifyReply {
  reply.hijack();
  reply.raw.destroy();
  return reply;
}
