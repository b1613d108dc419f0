import type { Catalog } from '@svc/catalog';
import {
  type ChunkStream,
  type Completion,
  type Embeddings,
  type ImageOrders,
  type InferenceCall,
  type JobCallKind,
  type Nodes,
  SpokenText,
  type Transcriptions,
} from '@svc/contracts/inference';
import { Problem } from '@svc/contracts/problems';
import { SPEECH_MEDIA_TYPES } from '@svc/contracts/catalog';
import { RouterPorts } from './api/router-ports.js';
import { BackendCalls, type RouterSettings } from './backend-calls.js';
import { ResponseBytes } from './backends/response-bytes.js';
import type { BackendPool } from './backends/backend-pool.js';
import type { CallMode } from './backends/call-mode.js';
import { passing, readCallBody } from './backends/call-body.js';
import { firstAudio } from './backends/first-audio.js';
import { readJob, requestOf } from './backends/job-calls.js';
import { EncryptedCalls, type StreamStart } from './encrypted-calls.js';
import { LocalEmbeddings } from './local-embeddings.js';
import { LocalImageOrders } from './local-image-orders.js';
import { LocalNodes } from './local-nodes.js';
import { LocalTranscriptions } from './local-transcriptions.js';
import type { CheckSettings, NodeChecks } from './nodes/node-checks.js';

/** Enough for the object of any job. */
const JOB_RESPONSE_BYTES = 1_048_576;

/** Calls the backends of the catalogue one after the other until one begins to respond. */
export class LocalRouter extends RouterPorts {
  override readonly embeddings: Embeddings;
  override readonly images: ImageOrders;
  override readonly enclaves: EncryptedCalls;
  override readonly nodes: Nodes;
  override readonly transcriptions: Transcriptions;
  readonly nodeChecks: NodeChecks;
  private readonly calls: BackendCalls;

  constructor(catalog: Catalog, pool: BackendPool, settings: RouterSettings & CheckSettings) {
    super();
    this.calls = new BackendCalls(catalog, pool, settings);
    this.nodeChecks = this.calls.nodes;
    this.nodes = new LocalNodes(this.calls);
    this.transcriptions = new LocalTranscriptions(this.calls);
    this.embeddings = new LocalEmbeddings(this.calls);
    this.images = new LocalImageOrders(this.calls);
    this.enclaves = new EncryptedCalls(this.calls, (call, signal, mode) =>
      this.chatStream(call, signal, mode),
    );
  }

  override complete(call: InferenceCall, signal: AbortSignal): Promise<Completion> {
    const { kind = 'chat' } = call;
    switch (kind) {
      case 'chat':
        return this.calls.firstAvailable(call, signal, {
          ...this.calls.whole,
          body: (live) => this.calls.requests.chatBody(live, call),
          take: async (exchange, { dialect }) => {
            const body = await exchange.text(this.calls.settings.ROUTER_RESPONSE_LIMIT_BYTES);
            dialect.checkCompletion(body);
            return { body };
          },
        });
      case 'speech':
      case 'job-content':
        return Promise.reject(unavailable(`a call of kind ${kind} is streamed`));
      case 'job-submit':
      case 'job-status':
      case 'job-cancel':
        return this.jobCall(kind, call, signal);
    }
  }

  override stream(call: InferenceCall, signal: AbortSignal): Promise<ChunkStream> {
    const { kind = 'chat' } = call;
    switch (kind) {
      case 'chat':
        if (call.encryption) return this.enclaves.stream(call, call.encryption.modelKey, signal);
        return this.chatStream(call, signal, {
          first: (exchange, { dialect }) => dialect.firstEvent(exchange),
        });
      case 'speech':
        return this.speech(call, signal);
      case 'job-content':
        return this.jobContent(call, signal);
      case 'job-submit':
      case 'job-status':
      case 'job-cancel':
        return Promise.reject(unavailable(`a call of kind ${kind} is not streamed`));
    }
  }

  private async speech(call: InferenceCall, signal: AbortSignal): Promise<ChunkStream> {
    const text = readCallBody(SpokenText, call.body);
    const pass = passing(call, this.calls.catalog);
    const stream = await this.streamed(call, signal, {
      body: (live) => live.dialect.speechBody(live.backend, { ...text, others: pass(text.others, live) }),
      first: (exchange) => firstAudio(exchange, text.format),
    });
    return { ...stream, contentType: SPEECH_MEDIA_TYPES[text.format] };
  }

  private chatStream(call: InferenceCall, signal: AbortSignal, start: StreamStart): Promise<ChunkStream> {
    return this.streamed(call, signal, {
      ...start,
      body: (live) => this.calls.requests.chatBody(live, call),
    });
  }

  /** `first` reads the beginning of a response that is not an error, and returns all bytes that arrived. */
  private streamed(
    call: InferenceCall,
    signal: AbortSignal,
    { body, first, serves }: StreamStart & Pick<CallMode<never>, 'body'>,
  ): Promise<ChunkStream> {
    return this.calls.firstAvailable(call, signal, {
      deadlineMs: this.calls.settings.ROUTER_FIRST_CHUNK_TIMEOUT_MS,
      pauseMs: this.calls.settings.ROUTER_STREAM_IDLE_TIMEOUT_MS,
      isStream: true,
      body,
      serves,
      take: async (exchange, live) => {
        const { ROUTER_STREAM_LIMIT_BYTES: limitBytes } = this.calls.settings;
        const bytes = new ResponseBytes(exchange, { first: await first(exchange, live), limitBytes });
        exchange.endWithin(this.calls.settings.ROUTER_STREAM_TIMEOUT_MS);
        return { bytes };
      },
    });
  }

  /** A call about a job whose response is short. */
  private async jobCall(kind: JobCallKind, call: InferenceCall, signal: AbortSignal): Promise<Completion> {
    return this.calls.firstAvailable(call, signal, {
      ...this.calls.whole,
      job: requestOf(kind, call.body, passing(call, this.calls.catalog)),
      anyStatus: true,
      take: async (exchange, live) => {
        const body = await exchange.text(JOB_RESPONSE_BYTES);
        return { body: JSON.stringify(readJob(kind, { status: exchange.status, body }, live)) };
      },
    });
  }

  /** The media of a job, which may be long: its bytes are passed on as they arrive. */
  private async jobContent(call: InferenceCall, signal: AbortSignal): Promise<ChunkStream> {
    const { settings } = this.calls;
    return this.calls.firstAvailable(call, signal, {
      deadlineMs: settings.ROUTER_FIRST_CHUNK_TIMEOUT_MS,
      pauseMs: settings.ROUTER_STREAM_IDLE_TIMEOUT_MS,
      isStream: false,
      job: requestOf('job-content', call.body, passing(call, this.calls.catalog)),
      take: (exchange) => {
        exchange.endWithin(settings.ROUTER_STREAM_TIMEOUT_MS);
        const limitBytes = settings.ROUTER_STREAM_LIMIT_BYTES;
        return Promise.resolve({ bytes: new ResponseBytes(exchange, { limitBytes }) });
      },
    });
  }
}

/** The error for a call that a method does not serve. */
function unavailable(why: string): Problem {
  return new Problem('INVALID_REQUEST', { cause: new TypeError(why) });
}
