import type { Catalog } from '@svc/catalog';
import {
  type ServedBy,
  type ChunkStream,
  type Completion,
  EmbeddingTexts,
  type EmbeddingVectors,
  type InferenceCall,
  InferenceRouter,
  type JobCallKind,
  type MadeImages,
  SpokenText,
} from '@svc/contracts/inference';
import { Problem } from '@svc/contracts/problems';
import { SPEECH_MEDIA_TYPES } from '@svc/contracts/catalog';
import { Exchange, ExchangeAborted } from '@svc/runtime';
import { OTHER, router } from '@svc/telemetry';
import { BackendRequests } from './backend-requests.js';
import { Attempt } from './backends/attempt.js';
import { ResponseBytes } from './backends/response-bytes.js';
import type { BackendPool, LiveBackend } from './backends/backend-pool.js';
import { type Refusal, type SentRequest, reasonForLogs, refusalOf } from './backends/backend-refusal.js';
import type { CallMode } from './backends/call-mode.js';
import { places } from './backends/places.js';
import { refuseFailure } from './backends/refuse-failure.js';
import {
  isRefusedFormat,
  readsAudio,
  transcriptionModes,
  unreadable,
} from './backends/transcription-call.js';
import type { RouterConfig } from './router.config.js';
import { passing, readCallBody } from './backends/call-body.js';
import { BATCHES_AT_ONCE, servedByOf, batchesOf, joined } from './backends/embedding-batches.js';
import { firstAudio } from './backends/first-audio.js';
import { imagesIn } from './backends/server-calls.js';
import { imageCall } from './backends/image-call.js';
import { rpcMode } from './backends/rpc-call.js';
import { attestationMode } from './tee-calls.js';
import { readJob, requestOf } from './backends/job-calls.js';
import { goesElsewhere, mayBeCalled, mayRepeat, outcomeOf } from './backends/next-backend.js';
import { BackendError } from './dialects/backend-error.js';
import type { TranscribedFile } from './dialects/dialect.js';
import { EncryptedCalls, type StreamStart } from './encrypted-calls.js';
import { type CheckSettings, NodeChecks } from './nodes/node-checks.js';

/** Enough for the object of any job. */
const JOB_RESPONSE_BYTES = 1_048_576;

export interface RouterSettings extends RouterConfig {
  /** Returns the environment variable that a backend's `apiKeyEnv` names. */
  readonly secret: (name: string) => string | undefined;
}

/** Error statuses with their own metric label. */
const COUNTED_STATUSES: ReadonlySet<number> = new Set([
  400, 401, 402, 403, 404, 405, 408, 409, 413, 415, 422, 429, 500, 501, 502, 503, 504,
]);

/** Client errors that show no fault of the request or the catalogue: a timeout, a rate limit. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([408, 429]);

/** Calls the backends of the catalogue one after the other until one begins to respond. */
export class LocalRouter extends InferenceRouter {
  readonly nodes: NodeChecks;
  readonly requests: BackendRequests;
  private readonly encrypted: EncryptedCalls;

  constructor(
    private readonly catalog: Catalog,
    private readonly pool: BackendPool,
    private readonly settings: RouterSettings & CheckSettings,
  ) {
    super();
    this.nodes = new NodeChecks(catalog, pool, settings);
    this.requests = new BackendRequests(settings.secret);
    this.encrypted = new EncryptedCalls(
      (model) => pool.candidates(catalog.backendsOf(model)),
      (call, signal, mode) => this.chatStream(call, signal, mode),
      (call, signal, mode) => this.firstAvailable(call, signal, mode),
    );
    catalog.onReplaced(() => pool.keep(catalog.backends()));
  }

  override complete(call: InferenceCall, signal: AbortSignal): Promise<Completion> {
    const { kind = 'chat' } = call;
    switch (kind) {
      case 'chat':
        return this.firstAvailable(call, signal, {
          ...this.whole,
          body: (live) => this.requests.chatBody(live, call),
          take: async (exchange, { dialect }) => {
            const body = await exchange.text(this.settings.ROUTER_RESPONSE_LIMIT_BYTES);
            dialect.checkCompletion(body);
            return { body };
          },
        });
      case 'rpc':
      case 'rpc-send':
        return this.firstAvailable(
          call,
          signal,
          rpcMode(call, this.settings.ROUTER_RESPONSE_LIMIT_BYTES, this),
        );
      case 'embeddings':
        return this.embeddings(call, signal);
      case 'transcription':
      case 'translation':
        return this.transcription(call, kind, signal);
      case 'speech':
      case 'job-content':
        return Promise.reject(unavailable(`a call of kind ${kind} is streamed`));
      case 'image':
      case 'image-edit':
      case 'image-upscale':
      case 'image-cutout':
        return this.images(call, signal);
      case 'job-submit':
      case 'job-status':
      case 'job-cancel':
        return this.jobCall(kind, call, signal);
      case 'tee-attestation':
        return this.firstAvailable(call, signal, attestationMode(call));
      case 'tee-signature':
        return this.encrypted.signature(call, signal);
    }
  }

  override stream(call: InferenceCall, signal: AbortSignal): Promise<ChunkStream> {
    const { kind = 'chat' } = call;
    switch (kind) {
      case 'chat':
        if (call.encryption) return this.encrypted.stream(call, call.encryption.modelKey, signal);
        return this.chatStream(call, signal, {
          first: (exchange, { dialect }) => dialect.firstEvent(exchange),
        });
      case 'speech':
        return this.speech(call, signal);
      case 'job-content':
        return this.jobContent(call, signal);
      case 'embeddings':
      case 'rpc':
      case 'rpc-send':
      case 'transcription':
      case 'translation':
      case 'image':
      case 'image-edit':
      case 'image-upscale':
      case 'image-cutout':
      case 'job-submit':
      case 'job-status':
      case 'job-cancel':
      case 'tee-attestation':
      case 'tee-signature':
        return Promise.reject(unavailable(`a call of kind ${kind} is not streamed`));
    }
  }

  /**
   * Requests the verbose response, which has the length and the times of words. Some servers have only the
   * plain one, and refuse the other by name.
   */
  private async transcription(
    call: InferenceCall,
    kind: TranscribedFile['kind'],
    signal: AbortSignal,
  ): Promise<Completion> {
    const [file] = call.files ?? [];
    if (!file) throw unavailable('the call has no file');
    const backends = this.pool.candidates(this.catalog.backendsOf(call.model));
    if (backends.length > 0 && !backends.some((live) => readsAudio(live, file))) throw unreadable(file);
    const pass = passing(call, this.catalog);
    const modeIn = transcriptionModes(call, kind, { file, settings: this.settings, pass });
    const inFormat = (format: TranscribedFile['format']): Promise<Completion> =>
      this.firstAvailable(call, signal, modeIn(format));
    return inFormat('verbose_json').catch((error: unknown) => {
      if (!isRefusedFormat(error)) throw error;
      return inFormat('json');
    });
  }

  private async speech(call: InferenceCall, signal: AbortSignal): Promise<ChunkStream> {
    const text = readCallBody(SpokenText, call.body);
    const pass = passing(call, this.catalog);
    const stream = await this.streamed(call, signal, {
      body: (live) => live.dialect.speechBody(live.backend, { ...text, others: pass(text.others, live) }),
      first: (exchange) => firstAudio(exchange, text.format),
    });
    return { ...stream, contentType: SPEECH_MEDIA_TYPES[text.format] };
  }

  private chatStream(call: InferenceCall, signal: AbortSignal, start: StreamStart): Promise<ChunkStream> {
    return this.streamed(call, signal, { ...start, body: (live) => this.requests.chatBody(live, call) });
  }

  /** `first` reads the beginning of a response that is not an error, and returns all bytes that arrived. */
  private streamed(
    call: InferenceCall,
    signal: AbortSignal,
    { body, first, serves }: StreamStart & Pick<CallMode<never>, 'body'>,
  ): Promise<ChunkStream> {
    return this.firstAvailable(call, signal, {
      deadlineMs: this.settings.ROUTER_FIRST_CHUNK_TIMEOUT_MS,
      pauseMs: this.settings.ROUTER_STREAM_IDLE_TIMEOUT_MS,
      isStream: true,
      body,
      serves,
      take: async (exchange, live) => {
        const { ROUTER_STREAM_LIMIT_BYTES: limitBytes } = this.settings;
        const bytes = new ResponseBytes(exchange, { first: await first(exchange, live), limitBytes });
        exchange.endWithin(this.settings.ROUTER_STREAM_TIMEOUT_MS);
        return { bytes };
      },
    });
  }

  /**
   * Splits the texts into batches that every backend of the model accepts. One failing batch ends the others.
   */
  private async embeddings(call: InferenceCall, signal: AbortSignal): Promise<Completion> {
    const texts = readCallBody(EmbeddingTexts, call.body);
    const size = Math.min(...this.catalog.backendsOf(call.model).map(({ maxBatch }) => maxBatch));
    const batches = batchesOf(texts, size);
    const failing = new AbortController();
    const together = AbortSignal.any([signal, failing.signal]);
    // All batches prefer the same backend: vectors of two builds of a model may differ slightly.
    const batchCall = { ...call, cacheKey: call.requestId };
    const parts: (EmbeddingVectors & ServedBy)[] = [];
    const work = async (): Promise<void> => {
      for (let batch = batches.next(); batch.done !== true; batch = batches.next()) {
        const { at, texts: some } = batch.value;
        parts[at] = await this.firstAvailable(batchCall, together, {
          ...this.whole,
          body: ({ backend, dialect }) => dialect.embeddingsBody(backend.model, some),
          take: async (exchange, { dialect }) =>
            dialect.readEmbeddings(await exchange.text(this.settings.ROUTER_RESPONSE_LIMIT_BYTES), some),
        });
      }
    };
    try {
      await Promise.all(Array.from({ length: BATCHES_AT_ONCE }, work));
    } catch (error) {
      failing.abort();
      throw error;
    }
    return { ...servedByOf(parts), body: JSON.stringify(joined(parts)) };
  }

  private async images(call: InferenceCall, signal: AbortSignal): Promise<Completion> {
    const { count, ...mode } = imageCall(call, passing(call, this.catalog));
    const { ROUTER_IMAGE_TIMEOUT_MS: limitMs, ROUTER_IMAGE_LIMIT_BYTES: limitBytes } = this.settings;
    const endMs = performance.now() + limitMs;
    return this.firstAvailable(call, signal, {
      deadlineMs: limitMs,
      pauseMs: limitMs,
      isStream: false,
      ...mode,
      take: async (exchange, live) => {
        const headers = live.dialect.headers({ requestId: call.requestId, key: this.requests.keyFor(live) });
        const bounds = { limitMs: Math.max(1, endMs - performance.now()), limitBytes, count };
        const { connections } = this.pool;
        const images = await imagesIn(exchange, { connections, live, headers, signal, ...bounds });
        return { body: JSON.stringify({ images } satisfies MadeImages) };
      },
    });
  }

  /** A call about a job whose response is short. */
  private async jobCall(kind: JobCallKind, call: InferenceCall, signal: AbortSignal): Promise<Completion> {
    return this.firstAvailable(call, signal, {
      ...this.whole,
      job: requestOf(kind, call.body, passing(call, this.catalog)),
      anyStatus: true,
      take: async (exchange, live) => {
        const body = await exchange.text(JOB_RESPONSE_BYTES);
        return { body: JSON.stringify(readJob(kind, { status: exchange.status, body }, live)) };
      },
    });
  }

  /** The media of a job, which may be long: its bytes are passed on as they arrive. */
  private async jobContent(call: InferenceCall, signal: AbortSignal): Promise<ChunkStream> {
    const { settings } = this;
    return this.firstAvailable(call, signal, {
      deadlineMs: settings.ROUTER_FIRST_CHUNK_TIMEOUT_MS,
      pauseMs: settings.ROUTER_STREAM_IDLE_TIMEOUT_MS,
      isStream: false,
      job: requestOf('job-content', call.body, passing(call, this.catalog)),
      take: (exchange) => {
        exchange.endWithin(settings.ROUTER_STREAM_TIMEOUT_MS);
        const limitBytes = settings.ROUTER_STREAM_LIMIT_BYTES;
        return Promise.resolve({ bytes: new ResponseBytes(exchange, { limitBytes }) });
      },
    });
  }

  /** The mode for responses that are not streamed. */
  private get whole(): Pick<CallMode<never>, 'deadlineMs' | 'pauseMs' | 'isStream'> {
    const { ROUTER_COMPLETE_TIMEOUT_MS: limitMs } = this.settings;
    return { deadlineMs: limitMs, pauseMs: limitMs, isStream: false };
  }

  private async firstAvailable<Part>(
    call: InferenceCall,
    signal: AbortSignal,
    mode: CallMode<Part>,
  ): Promise<Part & ServedBy> {
    const backends = this.catalog.backendsOf(call.model);
    const endMs = performance.now() + mode.deadlineMs;
    let refusal: Refusal | undefined;
    let retries = 0;
    const { kind = 'chat' } = call;
    const able = this.pool
      .candidates(backends, call)
      .filter(
        (live) =>
          live.dialect.paths[kind] !== undefined && mayBeCalled(live, call) && (mode.serves?.(live) ?? true),
      );
    const isForNodes = kind === 'rpc' || kind === 'rpc-send';
    const candidates = isForNodes ? await this.nodes.usable(able, call) : able;
    const { connections } = this.pool;
    const fresh = mayRepeat(kind, candidates) ? connections.fresh : undefined;
    const waitMs = Math.min(this.settings.ROUTER_QUEUE_TIMEOUT_MS, mode.deadlineMs);
    for await (const place of places(candidates, { accountId: call.accountId, waitMs, signal })) {
      const { live } = place;
      let exchange: Exchange | undefined;
      const attempt = new Attempt(place, {
        kind,
        model: call.model,
        isStream: mode.isStream,
        number: retries + 1,
      });
      if (retries > 0) router.retries.add(1, call.model);
      try {
        const deadlineMs = Math.max(1, Math.min(mode.attemptMs ?? Infinity, endMs - performance.now()));
        const request = {
          ...this.requests.of({ live, call, step: attempt.step }, mode),
          pauseMs: mode.pauseMs,
          deadlineMs,
        };
        exchange = await Exchange.start(connections.kept, request, { signal, onEnd: attempt.ended, fresh });
        if (!mode.anyStatus) await refuseFailure(exchange);
        const part = await mode.take(exchange, live);
        attempt.began();
        live.cooldown.succeeded();
        router.attempts.add(1, call.model, live.name, 'answered');
        return { backend: live.name, retries, ...part };
      } catch (error) {
        const { body, encryption } = call;
        const secrets = this.requests.secretsOf(live, call);
        const sent = { kind: call.kind, body, secrets, isEncrypted: encryption !== undefined };
        refusal = refusalOf(error, sent);
        refusal = { ...refusal, elsewhere: goesElsewhere(kind, error, refusal) };
        if (error instanceof BackendError) this.report(error, sent, { live, call });
        router.attempts.add(1, call.model, live.name, outcomeOf(refusal, signal));
        // Recorded before the abort, since the backend's error is more telling than the abort.
        attempt.failed(signal.aborted ? error : refusal.problem);
        exchange?.abort();
      }
      retries += 1;
      if (live.cooldown.begin(refusal.cooldown, call.accountId, this.settings.ROUTER_COOL_DOWN_MS))
        router.ejections.add(1, call.model, live.name);
      if (!refusal.elsewhere || signal.aborted) break;
    }
    if (refusal) throw refusal.problem;
    if (signal.aborted)
      throw new Problem('INFERENCE_FAILED', { cause: new ExchangeAborted('left while waiting') });
    throw this.unasked(call.model, candidates);
  }

  /** The problem when no backend was called: the model has none, or no slot became free in time. */
  private unasked(model: string, candidates: readonly LiveBackend[]): Problem {
    for (const { name } of candidates) router.attempts.add(1, model, name, 'full');
    return new Problem(candidates.length > 0 ? 'MODEL_AT_CAPACITY' : 'MODEL_OFFLINE');
  }

  /** Counts an error response, and logs one that shows a fault of the request or of the catalogue. */
  private report(
    error: BackendError,
    sent: SentRequest,
    { live, call: { model, requestId } }: { readonly live: LiveBackend; readonly call: InferenceCall },
  ): void {
    const { status } = error;
    router.errors.add(1, model, live.name, COUNTED_STATUSES.has(status) ? String(status) : OTHER);
    if (status >= 500 || PASSING_STATUSES.has(status)) return;
    const fields = { requestId, model, backend: live.name, status, reason: reasonForLogs(error, sent) };
    this.settings.log.warn(fields, 'a backend rejected a request');
  }
}

/** The error for a call that a method does not serve. */
function unavailable(why: string): Problem {
  return new Problem('INVALID_REQUEST', { cause: new TypeError(why) });
}
