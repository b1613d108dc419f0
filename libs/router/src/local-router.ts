import type { Catalog } from '@svc/catalog';
import type {
  BackendJobs,
  ChunkStream,
  Completion,
  Embeddings,
  ImageOrders,
  InferenceCall,
  Nodes,
  Speech,
  Transcriptions,
} from '@svc/contracts/inference';
import { RouterPorts } from './api/router-ports.js';
import { BackendCalls, type RouterSettings } from './backend-calls.js';
import type { BackendPool } from './backends/backend-pool.js';
import type { StreamStart } from './backends/call-mode.js';
import { EncryptedCalls } from './encrypted-calls.js';
import { LocalBackendJobs } from './local-backend-jobs.js';
import { LocalEmbeddings } from './local-embeddings.js';
import { LocalImageOrders } from './local-image-orders.js';
import { LocalNodes } from './local-nodes.js';
import { LocalSpeech } from './local-speech.js';
import { LocalTranscriptions } from './local-transcriptions.js';
import type { CheckSettings, NodeChecks } from './nodes/node-checks.js';

/** Calls the backends of the catalogue one after the other until one begins to respond. */
export class LocalRouter extends RouterPorts {
  override readonly embeddings: Embeddings;
  override readonly images: ImageOrders;
  override readonly enclaves: EncryptedCalls;
  override readonly jobs: BackendJobs;
  override readonly nodes: Nodes;
  override readonly speech: Speech;
  override readonly transcriptions: Transcriptions;
  readonly nodeChecks: NodeChecks;
  private readonly calls: BackendCalls;

  constructor(catalog: Catalog, pool: BackendPool, settings: RouterSettings & CheckSettings) {
    super();
    this.calls = new BackendCalls(catalog, pool, settings);
    this.nodeChecks = this.calls.nodes;
    this.nodes = new LocalNodes(this.calls);
    this.jobs = new LocalBackendJobs(this.calls);
    this.speech = new LocalSpeech(this.calls);
    this.transcriptions = new LocalTranscriptions(this.calls);
    this.embeddings = new LocalEmbeddings(this.calls);
    this.images = new LocalImageOrders(this.calls);
    this.enclaves = new EncryptedCalls(this.calls, (call, signal, mode) =>
      this.chatStream(call, signal, mode),
    );
  }

  override complete(call: InferenceCall, signal: AbortSignal): Promise<Completion> {
    return this.calls.firstAvailable(call, signal, {
      ...this.calls.whole,
      body: (live) => this.calls.requests.chatBody(live, call),
      take: async (exchange, { dialect }) => {
        const body = await exchange.text(this.calls.settings.ROUTER_RESPONSE_LIMIT_BYTES);
        dialect.checkCompletion(body);
        return { body };
      },
    });
  }

  override stream(call: InferenceCall, signal: AbortSignal): Promise<ChunkStream> {
    if (call.encryption) return this.enclaves.stream(call, call.encryption.modelKey, signal);
    return this.chatStream(call, signal, { first: (exchange, { dialect }) => dialect.firstEvent(exchange) });
  }

  private chatStream(call: InferenceCall, signal: AbortSignal, start: StreamStart): Promise<ChunkStream> {
    return this.calls.streamed(call, signal, {
      ...start,
      body: (live) => this.calls.requests.chatBody(live, call),
    });
  }
}
