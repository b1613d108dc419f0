import { createHash, randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { ContentPart } from '@svc/api/chat';
import { MEDIA_JOBS_BACKEND } from '@svc/contracts/messages';
import {
  type Caller,
  type EarlierMediaJob,
  type MediaKind,
  MediaJobs,
  type MediaOrder,
  type NewMediaJob,
} from '@svc/contracts/ports';
import { type Issue, Problem, invalidRequest } from '@svc/contracts/problems';
import { formatUsd } from '@svc/contracts/money';
import { RootLogger, whileConnected } from '@svc/runtime';
import { type HttpPair, PaidOperations, isUnserved } from '@svc/paid/paid';
import { Attachments } from '@svc/paid/attachments';
import { RepeatHooks } from '@svc/paid/repeats';
import { PaymentDemands } from '@svc/identity/wallets';
import { CallbacksStore } from './callbacks.store.js';
import type { InputFile, MediaPlan } from './media-plan.js';

const MS_PER_SECOND = 1_000;

/** In base64, the 25 MB that one file may have: more would not fit into a call of the jobs. */
const FILES_LIMIT_BASE64 = Math.ceil(25_000_000 / 3) * 4;

/** Accepts jobs: charges them, then lets them begin. */
@Injectable()
export class MediaOrders {
  constructor(
    private readonly paid: PaidOperations,
    private readonly jobs: MediaJobs,
    private readonly callbacks: CallbacksStore,
    private readonly attachments: Attachments,
    private readonly demands: PaymentDemands,
    private readonly repeats: RepeatHooks,
    private readonly logger: RootLogger,
  ) {}

  /** Returns the id of the job, which may be one of an earlier identical request. */
  async place(kind: MediaKind, plan: MediaPlan, pair: HttpPair & { caller: Caller }): Promise<string> {
    const { request, reply, caller } = pair;
    const { model, headers } = plan.sale;
    request.record.model = model.id;
    request.record.operation = 'generate_content';
    reply.headers(headers);
    const named = {
      kind,
      accountId: caller.accountId,
      keyId: caller.keyId,
      bodySha256: sha256(JSON.stringify(request.body)),
    };
    const earlier = await this.earlier({ ...named, idempotencyKey: keyOf(request) }, request);
    if (earlier) return earlier.id;
    await this.repeats.afresh(request, reply);
    const { callbackUrl } = plan;
    if (callbackUrl !== undefined) await this.callbacks.demandEndpoint(caller.accountId, callbackUrl);
    const order = await this.withFiles(plan, pair);
    const job: NewMediaJob = {
      ...named,
      idempotencyKey: keyOf(request),
      id: randomUUID(),
      requestId: request.id,
      model: model.id,
      order,
      callbackUrl,
      expectedMs: model.expectedSeconds * MS_PER_SECOND,
      deadlineMs: model.deadlineSeconds * MS_PER_SECOND,
    };
    try {
      await this.charge(job, plan, pair);
    } catch (error) {
      throw await this.demands.refusalFor(caller, error, pair);
    }
    return job.id;
  }

  /**
   * The URL at which anyone may download the result of a job. A job is ordered even without it: a worker of
   * the previous release has none, and a store may have no keys to sign it at this moment.
   */
  async downloadUrl(id: string): Promise<string | undefined> {
    try {
      return await this.jobs.downloadUrl(id);
    } catch (error) {
      this.logger.log.warn({ err: error, job: id }, 'the download URL of a job cannot be made');
      return undefined;
    }
  }

  /** What a client means that sends the same request again. */
  private async earlier(
    named: Pick<NewMediaJob, 'accountId' | 'keyId' | 'kind' | 'bodySha256' | 'idempotencyKey'>,
    { repeat, headers }: HttpPair['request'],
  ): Promise<EarlierMediaJob | undefined> {
    const { idempotencyKey: key } = named;
    if (key !== undefined)
      return repeat?.isTakenOver === true ? this.jobs.earlier({ ...named, idempotencyKey: key }) : undefined;
    // OpenAI's clients retry without an idempotency key.
    const isRetry = Number(headers['x-stainless-retry-count']) >= 1;
    return isRetry ? this.jobs.repeated(named) : undefined;
  }

  /** Stores the job, charges it durably, then lets it begin. Whatever fails, it is not paid for. */
  private async charge(
    job: NewMediaJob,
    { sale, line }: MediaPlan,
    { request, reply, caller }: HttpPair & { caller: Caller },
  ): Promise<void> {
    const startedMs = performance.now();
    const operation = { sale, amounts: {}, hold: { amountNano: line.amountNano } };
    const begun = await this.paid.begin(operation, { requestId: request.id, caller });
    reply.headers(begun.headers);
    if ('refusal' in begun) throw begun.refusal;
    const { reservation } = begun;
    try {
      await this.jobs.place(job);
      try {
        const durationMs = performance.now() - startedMs;
        const settled = await reservation.settle({ backend: MEDIA_JOBS_BACKEND, lines: [line], durationMs });
        reply.headers(settled.headers);
        request.record.costUsd = formatUsd(settled.cost.usdNano);
        request.record.costDiem = formatUsd(settled.cost.diemNano);
      } catch (error) {
        await this.withdraw(job);
        throw error;
      }
      await this.jobs.charged(job.id);
    } catch (error) {
      if (isUnserved(error)) reply.headers(await reservation.cancel());
      throw error;
    } finally {
      await reservation.release();
    }
  }

  /** Never rejects: a job that is not confirmed fails by itself. */
  private async withdraw({ id, requestId }: NewMediaJob): Promise<void> {
    try {
      await this.jobs.withdraw(id);
    } catch (error) {
      this.logger.log.warn({ err: error, requestId }, 'a job that could not be charged is still stored');
    }
  }

  /** The order with its files, which are fetched and checked here. */
  private async withFiles(
    { order, imageUrl, inputs }: MediaPlan,
    pair: HttpPair & { caller: Caller },
  ): Promise<MediaOrder> {
    const files = { left: FILES_LIMIT_BASE64 };
    const image = { path: ['image_url'] as const, media: 'image' as const };
    const picture = imageUrl === undefined ? undefined : await this.file({ ...image, url: imageUrl }, pair);
    files.left -= picture?.base64.length ?? 0;
    const ready: NonNullable<MediaOrder['inputs']> = [];
    for (const input of inputs) {
      const file = await this.file(input, pair);
      files.left -= file.base64.length;
      if (files.left < 0) throw fault(input.path, 'All images and videos together must have at most 25 MB.');
      ready.push({ ...file, part: input.part });
    }
    return { ...order, ...(picture && { picture }), ...(ready.length > 0 && { inputs: ready }) };
  }

  private async file(
    { path, url, media }: Given,
    { request, caller: { accountId } }: HttpPair & { caller: Caller },
  ): Promise<{ type: string; base64: string }> {
    const part: ContentPart =
      media === 'image'
        ? { type: 'image_url', image_url: { url } }
        : { type: 'video_url', video_url: { url } };
    const ready = await whileConnected(request, (signal) =>
      this.attachments.ready(part, { path: [], accountId, takesImages: true, signal }),
    ).catch((error: unknown) => {
      throw namingField(error, path);
    });
    const [, type = '', base64 = ''] = /^data:([\w/.+-]+);base64,(.*)$/s.exec(urlOf(ready)) ?? [];
    return { type, base64 };
  }
}

/** A URL of a request, and where it is there. */
type Given = Pick<InputFile, 'url' | 'media'> & { readonly path: Issue['path'] };

function urlOf(part: ContentPart): string {
  if (part.type === 'image_url') return part.image_url.url;
  return part.type === 'video_url' ? part.video_url.url : '';
}

const fault = (path: Issue['path'], message: string): Problem =>
  invalidRequest([{ code: 'custom', path, message }]);

/** A file is a field of its own here, not a part of a message. */
function namingField(error: unknown, path: Issue['path']): unknown {
  if (!(error instanceof Problem) || error.code !== 'INVALID_REQUEST') return error;
  const [issue] = error.issues ?? [];
  return fault(path, issue?.message ?? error.message);
}

/** The request is the same for every process that makes it. */
const keyOf = ({ repeat, id }: HttpPair['request']): string | undefined => repeat && id;

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
