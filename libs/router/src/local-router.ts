import {
  BackendCalls,
  type BackendPool,
  HealthWatch,
  type LiveBackend,
  type PlannedRequest,
} from '@svc/backend-calls';
import type { Catalog } from '@svc/catalog';
import type {
  BackendJobs,
  ChunkStream,
  Completion,
  Embeddings,
  ImageOrders,
  ChatCall,
  Nodes,
  PromptCount,
  Scores,
  Served,
  Speech,
  Transcriptions,
} from '@svc/contracts/inference';
import { RouterPorts } from './api/router-ports.js';
import { ModelCalls } from './models/model-calls.js';
import { ownMembers } from './models/own-members.js';
import type { ChatDialect } from './dialect/dialect.js';
import { dialectOf } from './dialects/dialects.js';
import { firstEvent } from './chat/backend-events.js';
import { type ChatBeginning, EncryptedCalls } from './enclaves/encrypted-calls.js';
import { LocalBackendStates } from './nodes/local-backend-states.js';
import { LocalBackendJobs } from './models/local-backend-jobs.js';
import { LocalEmbeddings } from './models/local-embeddings.js';
import { LocalImageOrders } from './models/local-image-orders.js';
import { countedPrompt } from './models/prompt-counts.js';
import { LocalScores } from './models/local-scores.js';
import { LocalSpeech } from './models/local-speech.js';
import { LocalTranscriptions } from './models/local-transcriptions.js';
import { LocalNodes } from './nodes/local-nodes.js';
import { type CheckSettings, NodeChecks } from './nodes/node-checks.js';
import type { RouterSettings } from './router.config.js';

/** Calls the backends of the catalogue one after the other until one begins to respond. */
export class LocalRouter extends RouterPorts {
  override readonly embeddings: Embeddings;
  override readonly images: ImageOrders;
  override readonly enclaves: EncryptedCalls;
  override readonly jobs: BackendJobs;
  override readonly nodes: Nodes;
  override readonly scores: Scores;
  override readonly speech: Speech;
  override readonly states: LocalBackendStates;
  override readonly transcriptions: Transcriptions;
  readonly nodeChecks: NodeChecks;
  readonly health: HealthWatch;
  private readonly calls: ModelCalls;

  constructor(
    catalog: Catalog,
    pool: BackendPool,
    private readonly settings: RouterSettings & CheckSettings,
  ) {
    super();
    const backends = new BackendCalls(pool, settings);
    this.nodeChecks = new NodeChecks(catalog, backends, settings);
    this.health = new HealthWatch(pool, backends.credentials, {
      models: () => catalog.backendsByModel,
      apiOf: dialectOf,
      checkMs: settings.ROUTER_CHECK_MS,
      pauseMs: settings.ROUTER_COOL_DOWN_MS,
      log: settings.log,
    });
    catalog.onReplaced(() => {
      pool.keep(catalog.backends());
      this.health.refresh();
    });
    this.nodes = new LocalNodes(backends, this.nodeChecks, {
      catalog,
      limitBytes: settings.ROUTER_RESPONSE_LIMIT_BYTES,
    });
    this.calls = new ModelCalls(catalog, backends, settings);
    this.jobs = new LocalBackendJobs(this.calls);
    this.states = new LocalBackendStates(catalog, pool, this.nodeChecks);
    this.speech = new LocalSpeech(this.calls);
    this.transcriptions = new LocalTranscriptions(this.calls);
    this.embeddings = new LocalEmbeddings(this.calls);
    this.scores = new LocalScores(this.calls);
    this.images = new LocalImageOrders(this.calls);
    this.enclaves = new EncryptedCalls(this.calls, (call, signal, beginning) =>
      this.chatStream(call, signal, beginning),
    );
  }

  override complete(call: ChatCall, signal: AbortSignal): Promise<Completion> {
    return this.calls.first(call, signal, {
      ...this.calls.whole,
      at: ({ chat }, live) =>
        chat && {
          request: () => this.chatRequest(chat, { live, call }, false),
          take: (exchange) => {
            const completion = (body: string) => {
              chat.checkCompletion(body);
              return { body, ...(chat.reader && { dialect: live.backend.kind }) };
            };
            const body = exchange.text(this.settings.ROUTER_RESPONSE_LIMIT_BYTES);
            return body instanceof Promise ? body.then(completion) : completion(body);
          },
        },
    });
  }

  override count(call: ChatCall, signal: AbortSignal): Promise<Served<PromptCount>> {
    return countedPrompt(this.calls, call, signal);
  }

  override stream(call: ChatCall, signal: AbortSignal): Promise<ChunkStream> {
    if (call.encryption) return this.enclaves.stream(call, call.encryption.modelKey, signal);
    return this.chatStream(call, signal, (chat) => (exchange) => firstEvent(exchange, chat));
  }

  private chatStream(call: ChatCall, signal: AbortSignal, beginning: ChatBeginning): Promise<ChunkStream> {
    return this.calls.streamed(call, signal, ({ chat }, live) => {
      const first = chat && beginning(chat, live);
      if (!first) return undefined;
      const request = (): PlannedRequest => this.chatRequest(chat, { live, call }, true);
      return { request, first, events: chat.events, dialect: chat.reader && live.backend.kind };
    });
  }

  /** The request of a chat: as its client wrote it, if the backend has that API. */
  private chatRequest(
    chat: ChatDialect,
    { live, call }: { readonly live: LiveBackend; readonly call: ChatCall },
    isStream: boolean,
  ): PlannedRequest {
    const own = ownMembers(live.backend, call.accountId, this.settings.secret);
    if (call.original && chat.passed) return chat.passed(own, call.original, isStream);
    return chat.request(own, call.body, isStream);
  }
}
