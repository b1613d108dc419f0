import type {
  BackendJobs,
  BackendStates,
  Chat,
  ChatCall,
  ChunkStream,
  Completion,
  Embeddings,
  EnclaveReports,
  ImageOrders,
  Nodes,
  PromptCount,
  Scores,
  Served,
  Speech,
  Transcriptions,
} from '@svc/contracts/inference';
import { ReadChats } from '../chat/read-chats.js';
import { chatReaderOf } from '../dialects/dialects.js';

/** A router: a port for each kind of call, and for other processes the responses to chats as bytes. */
export abstract class RouterPorts {
  readonly chat: Chat = new ReadChats(this, chatReaderOf);
  abstract readonly embeddings: Embeddings;
  abstract readonly enclaves: EnclaveReports;
  abstract readonly images: ImageOrders;
  abstract readonly jobs: BackendJobs;
  abstract readonly nodes: Nodes;
  abstract readonly scores: Scores;
  abstract readonly speech: Speech;
  abstract readonly states: BackendStates;
  abstract readonly transcriptions: Transcriptions;

  /** A whole chat, as its backend wrote it. */
  abstract complete(call: ChatCall, signal: AbortSignal): Promise<Completion>;

  /** A streamed chat, as its backend writes it, from its first event that says something. */
  abstract stream(call: ChatCall, signal: AbortSignal): Promise<ChunkStream>;

  /** The tokens of the prompt of a chat. */
  abstract count(call: ChatCall, signal: AbortSignal): Promise<Served<PromptCount>>;
}
