import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { Catalog } from '@svc/catalog';
import {
  type Caller,
  Limiter,
  type MediaJob,
  type MediaJobFailure,
  type MediaKind,
  MediaJobs,
  type StoredMedia,
} from '@svc/contracts/ports';
import type { MediaComplete, MediaProgress, MediaRetrieve } from '@svc/api/media-jobs';
import { Problem, errorBody } from '@svc/contracts/problems';
import { BackgroundWork, limitHeaders, modelHeaders } from '@svc/paid/http';
import { LimitGate } from '@svc/paid/limits';
import { type HttpPair } from '@svc/paid/paid';

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

interface ResultsCall extends HttpPair {
  readonly kind: MediaKind;
  readonly caller: Caller;
}

/** Shows jobs to their accounts, and delivers and deletes what they made. */
@Injectable()
export class MediaResults {
  constructor(
    private readonly jobs: MediaJobs,
    private readonly catalog: Catalog,
    private readonly gate: LimitGate,
    private readonly limiter: Limiter,
    private readonly background: BackgroundWork,
  ) {}

  /**
   * The progress of a job, or its media. Refuses: REQUEST_ID_NOT_FOUND, MEDIA_NOT_FOUND, RATE_LIMIT_EXCEEDED,
   * and what the job failed with.
   */
  async retrieve(body: MediaRetrieve, call: ResultsCall): Promise<MediaProgress | Readable> {
    await this.admit(call);
    const job = await this.find(body, call);
    switch (job.state) {
      case 'running':
        return {
          status: 'PROCESSING',
          average_execution_time: job.expectedMs,
          execution_duration: job.tookMs,
        };
      case 'failed':
        throw failureProblem(job.failure);
      case 'deleted':
        throw new Problem('MEDIA_NOT_FOUND', { param: 'queue_id' });
      case 'completed':
        return this.deliver(job, body, call);
    }
  }

  /** Deletes the media of a job. Refuses: REQUEST_ID_NOT_FOUND; INVALID_REQUEST while it is processed. */
  async complete(body: MediaComplete, call: ResultsCall): Promise<void> {
    const job = await this.find(body, call);
    if (job.state === 'running')
      throw new Problem('INVALID_REQUEST', {
        message: 'The job is still being processed. Retrieve its result first.',
        param: 'queue_id',
      });
    if (job.state === 'completed') await this.jobs.remove(job.id);
  }

  private async find(
    { model, queue_id: id }: MediaComplete,
    { kind, caller, request }: ResultsCall,
  ): Promise<MediaJob> {
    const { accountId } = caller;
    // The job has the id of its model, and the request may have an alias.
    const name = this.catalog.ofType(kind).find(model)?.id ?? model;
    request.record.model = name;
    const job = UUID.test(id) ? await this.jobs.find({ id, accountId, kind, model: name }) : undefined;
    if (!job) throw new Problem('REQUEST_ID_NOT_FOUND', { param: 'queue_id' });
    return job;
  }

  /** Polls have a limit of their own, over all models. */
  private async admit({ request: { id, matchedRoute }, reply, caller }: ResultsCall): Promise<void> {
    const sale = {
      resource: { kind: 'route', name: (matchedRoute?.path ?? '').replace('/api/v1/', '') },
      limits: this.catalog.requestLimits('videoRetrieve', caller.tier),
    } as const;
    const request = this.gate.request({ requestId: id, caller }, sale, {});
    const admission = await this.limiter.admit(request);
    reply.headers(limitHeaders(admission));
    if (!admission.admitted) throw this.gate.refusal(caller, request, admission);
    await this.background.run('correcting limits', id, this.limiter.settle(request, admission, {}));
  }

  private async deliver(
    { id, model, tookMs, media }: MediaJob & { readonly media: StoredMedia },
    { delete_media_on_completion: isDeleted }: MediaRetrieve,
    { kind, request, reply }: ResultsCall,
  ): Promise<Readable> {
    const content = await this.jobs.open(id);
    const entry = this.catalog.ofType(kind).find(model);
    const format = media.mime.slice(media.mime.indexOf('/') + 1);
    reply.headers({
      ...(entry && modelHeaders(entry, undefined)),
      'content-type': media.mime,
      'content-length': media.bytes,
      'content-disposition': `attachment; filename="${id}.${format}"`,
      'x-content-type-options': 'nosniff',
      'x-svc-inference-time': String(Math.ceil(tookMs / 1_000)),
      ...(kind === 'music' && { 'x-svc-audio-format': format }),
    });
    // A response that the client has left before its end does not finish.
    if (isDeleted)
      reply.raw.once('finish', () => {
        void this.background.run('deleting delivered media', request.id, this.jobs.remove(id));
      });
    return Readable.from(content, { objectMode: false });
  }
}

/** What a failed job shows, each time. */
function failureProblem({ code, message, isRefunded }: MediaJobFailure): Problem {
  const isRefused = code === 'CONTENT_POLICY_VIOLATION';
  const problem = new Problem(isRefused ? code : 'INFERENCE_FAILED', { message });
  const { error, ...rest } = errorBody(problem);
  const type = isRefused ? 'provider_content_policy' : error.type;
  return new Problem(problem.code, {
    message,
    body: { ...rest, error: { ...error, type, credits_refunded: isRefunded } },
  });
}
