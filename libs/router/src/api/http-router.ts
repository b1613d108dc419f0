import { ResponseBytes, isImageCall, refusalOf } from '@svc/backend-calls';
import {
  type ServedBy,
  type CallKind,
  type BackendJobs,
  type BackendStates,
  type Embeddings,
  type EnclaveReports,
  type ImageOrders,
  type Nodes,
  PromptCount,
  type Scores,
  type Served,
  type Speech,
  type Transcriptions,
  type WireCall,
  type ChunkStream,
  type Completion,
  type ChatCall,
  decodeServedBy,
  decodeProblemTrailer,
  encodeInferenceCall,
  isMadeOnce,
} from '@svc/contracts/inference';
import { Problem, ProblemOnWire, decodeProblem } from '@svc/contracts/problems';
import { routes } from '@svc/api';
import { type Exchange, InternalClient, NeighbourUnavailable, type NeighbourAddress } from '@svc/runtime';
import { readServed, remotePorts } from './remote-ports.js';
import { RemoteBackendStates } from './remote-backend-states.js';
import { RouterPorts } from './router-ports.js';
import type { RouterClientConfig } from '../router.config.js';

/** The router enforces its own deadlines; one that exceeds them by this much hangs. */
const MARGIN_MS = 5_000;

/** An error response has some hundred bytes. */
const REFUSAL_LIMIT_BYTES = 65_536;

/** 2,048 vectors of 8,192 numbers, in base64. */
const EMBEDDINGS_LIMIT_BYTES = 134_217_728;

const OCTETS = { 'content-type': routes.infer.bodyType };

export type HttpRouterSettings = Omit<NeighbourAddress, 'url'> & RouterClientConfig;

/** How long the parts of a response may take. */
interface Times {
  readonly deadlineMs: number;
  readonly pauseMs: number;
}

/**
 * The router of another process. If a process breaks off before its response begins, another one is called,
 * as the router does with backends; after that nothing is retried.
 */
export class HttpRouter extends RouterPorts {
  override readonly embeddings: Embeddings;
  override readonly images: ImageOrders;
  override readonly enclaves: EnclaveReports;
  override readonly jobs: BackendJobs;
  override readonly nodes: Nodes;
  override readonly scores: Scores;
  override readonly speech: Speech;
  override readonly states: BackendStates;
  override readonly transcriptions: Transcriptions;
  private readonly client: InternalClient;

  constructor(private readonly settings: HttpRouterSettings) {
    super();
    this.client = new InternalClient({ ...settings, url: settings.ROUTER_URL, eachAddress: true });
    const ports = remotePorts(
      (call, signal) => this.completed(call, signal),
      (call, signal) => this.streamed(call, signal),
    );
    this.embeddings = ports.embeddings;
    this.images = ports.images;
    this.enclaves = ports.enclaves;
    this.jobs = ports.jobs;
    this.nodes = ports.nodes;
    this.scores = ports.scores;
    this.speech = ports.speech;
    this.states = new RemoteBackendStates(this.client);
    this.transcriptions = ports.transcriptions;
  }

  override complete(call: ChatCall, signal: AbortSignal): Promise<Completion> {
    return this.completed(call, signal);
  }

  private completed(call: WireCall, signal: AbortSignal): Promise<Completion> {
    const { limitMs, limitBytes } = this.completionLimits(call.kind);
    const times = { deadlineMs: limitMs + MARGIN_MS, pauseMs: limitMs + MARGIN_MS };
    return this.ask({ call, stream: false, signal }, times, async (exchange) => ({
      body: await exchange.text(limitBytes),
    }));
  }

  override async count(call: ChatCall, signal: AbortSignal): Promise<Served<PromptCount>> {
    return readServed(await this.completed({ ...call, kind: 'prompt-count' }, signal), PromptCount);
  }

  override stream(call: ChatCall, signal: AbortSignal): Promise<ChunkStream> {
    return this.streamed(call, signal);
  }

  private streamed(call: WireCall, signal: AbortSignal): Promise<ChunkStream> {
    const { settings } = this;
    const times = {
      deadlineMs: settings.ROUTER_FIRST_CHUNK_TIMEOUT_MS + MARGIN_MS,
      pauseMs: settings.ROUTER_STREAM_IDLE_TIMEOUT_MS + MARGIN_MS,
    };
    return this.ask({ call, stream: true, signal }, times, (exchange) => {
      exchange.endWithin(settings.ROUTER_STREAM_TIMEOUT_MS + MARGIN_MS);
      const limitBytes = settings.ROUTER_STREAM_LIMIT_BYTES;
      return { bytes: new ResponseBytes(exchange, { limitBytes, problemIn: decodeProblemTrailer }) };
    });
  }

  close(): Promise<void> {
    return this.client.close();
  }

  private completionLimits(kind: CallKind = 'chat'): { limitMs: number; limitBytes: number } {
    const { settings } = this;
    if (isImageCall(kind))
      return { limitMs: settings.ROUTER_IMAGE_TIMEOUT_MS, limitBytes: settings.ROUTER_IMAGE_LIMIT_BYTES };
    const limitMs = settings.ROUTER_COMPLETE_TIMEOUT_MS;
    switch (kind) {
      case 'chat':
      case 'prompt-count':
      case 'rerank':
      case 'moderation':
      case 'speech':
      case 'job-submit':
      case 'job-status':
      case 'job-content':
      case 'job-cancel':
      case 'rpc':
      case 'rpc-send':
      case 'tee-attestation':
      case 'tee-signature':
        return { limitMs, limitBytes: settings.ROUTER_RESPONSE_LIMIT_BYTES };
      case 'embeddings':
        // The router limits each batch, and a call may have many.
        return { limitMs, limitBytes: EMBEDDINGS_LIMIT_BYTES };
      case 'transcription':
      case 'translation':
        return {
          limitMs: settings.ROUTER_TRANSCRIPTION_TIMEOUT_MS,
          limitBytes: settings.ROUTER_RESPONSE_LIMIT_BYTES,
        };
    }
  }

  private async ask<Part>(
    outgoing: { readonly call: WireCall; readonly stream: boolean; readonly signal: AbortSignal },
    times: Times,
    take: (exchange: Exchange) => Promise<Part> | Part,
  ): Promise<Part & ServedBy> {
    const { headers, body } = encodeInferenceCall(outgoing.call, outgoing.stream);
    const request = {
      path: routes.infer.path,
      headers: { ...headers, ...OCTETS },
      body,
      // A router may have passed it on before it broke off.
      idempotent: !isMadeOnce(outgoing.call.kind),
      signal: outgoing.signal,
      // Its router knows where the prompts of the account are cached.
      key: outgoing.call.accountId,
      ...times,
    };
    try {
      return await this.client.open(request, async (exchange, broken) => {
        if (exchange.status !== 200) throw await refusal(exchange);
        const servedBy = decodeServedBy(exchange.headers);
        return { ...servedBy, retries: servedBy.retries + broken, ...(await take(exchange)) };
      });
    } catch (error) {
      if (error instanceof Problem) throw error;
      const sent = { kind: outgoing.call.kind, body: outgoing.call.body, secrets: [] };
      throw refusalOf(error instanceof NeighbourUnavailable ? error.cause : error, sent).problem;
    }
  }
}

/** The problem that the other process responded with. Anything else is an internal fault between the two. */
async function refusal(exchange: Exchange): Promise<Problem> {
  const { status } = exchange;
  const text = await exchange.text(REFUSAL_LIMIT_BYTES);
  const read = ProblemOnWire.safeParse(parsed(text));
  if (read.success) return decodeProblem(read.data);
  const cause = new Error(`the router responded with ${status}: ${text.slice(0, 200)}`);
  return new Problem(status === 503 ? 'MODEL_OFFLINE' : 'INFERENCE_FAILED', { cause });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
