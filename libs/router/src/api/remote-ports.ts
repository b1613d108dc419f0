import {
  BackendJob,
  BackendJobs,
  BackendJobStatus,
  type ChunkStream,
  type Completion,
  Embeddings,
  type EmbeddingsCall,
  EmbeddingVectors,
  EnclaveReports,
  type ImageCall,
  ImageOrders,
  type JobCall,
  type JobOrderCall,
  MadeImages,
  type ModerationCall,
  type NetworkCall,
  Nodes,
  nodesName,
  type RankCall,
  Ranks,
  type ReportCall,
  type Served,
  type ServedBy,
  type SignedCall,
  Scores,
  Speech,
  type SpeechCall,
  Transcript,
  type TranscriptionCall,
  Transcriptions,
  Verdicts,
  type WireCall,
} from '@svc/contracts/inference';
import { EnclaveReport, EnclaveSignature } from '@svc/contracts/messages';
import type { z } from 'zod';
import { bytesOf } from '../models/call-body.js';

/** Makes a call in another process, and returns the text of its response. */
type RemoteCalls = (call: WireCall, signal: AbortSignal) => Promise<Completion>;

/** Makes a call in another process whose response is streamed. */
type RemoteStreams = (call: WireCall, signal: AbortSignal) => Promise<ChunkStream>;

/** What a port returns, from the response of another process. */
export function readServed<Result>(
  { body, ...servedBy }: Completion,
  schema: z.ZodType<Result>,
): Served<Result> {
  return { ...servedBy, result: schema.parse(JSON.parse(body)) };
}

class RemoteEmbeddings extends Embeddings {
  constructor(private readonly calls: RemoteCalls) {
    super();
  }

  override async vectors({ texts, ...origin }: EmbeddingsCall, signal: AbortSignal) {
    const call = { ...origin, kind: 'embeddings' as const, body: bytesOf(texts) };
    return readServed(await this.calls(call, signal), EmbeddingVectors);
  }
}

class RemoteImageOrders extends ImageOrders {
  constructor(private readonly calls: RemoteCalls) {
    super();
  }

  override async make({ order, ...others }: ImageCall, signal: AbortSignal) {
    return readServed(await this.calls({ ...others, body: bytesOf(order) }, signal), MadeImages);
  }
}

class RemoteEnclaveReports extends EnclaveReports {
  constructor(private readonly calls: RemoteCalls) {
    super();
  }

  override async report({ nonce, ...others }: ReportCall, signal: AbortSignal) {
    const call = { ...others, kind: 'tee-attestation' as const, body: bytesOf({ nonce }) };
    return readServed(await this.calls(call, signal), EnclaveReport);
  }

  override async signature({ signed, ...origin }: SignedCall, signal: AbortSignal) {
    const call = { ...origin, kind: 'tee-signature' as const, body: bytesOf(signed) };
    return readServed(await this.calls(call, signal), EnclaveSignature);
  }
}

class RemoteNodes extends Nodes {
  constructor(private readonly calls: RemoteCalls) {
    super();
  }

  override async call({ network, isSend, ...others }: NetworkCall, signal: AbortSignal) {
    const kind = isSend ? ('rpc-send' as const) : ('rpc' as const);
    const { body, ...servedBy } = await this.calls({ ...others, kind, model: nodesName(network) }, signal);
    return { ...servedBy, result: body };
  }
}

class RemoteTranscriptions extends Transcriptions {
  constructor(private readonly calls: RemoteCalls) {
    super();
  }

  override async transcribe({ audio, file, ...others }: TranscriptionCall, signal: AbortSignal) {
    return readServed(
      await this.calls({ ...others, body: bytesOf(audio), files: [file] }, signal),
      Transcript,
    );
  }
}

class RemoteScores extends Scores {
  constructor(private readonly calls: RemoteCalls) {
    super();
  }

  override async rank({ order, ...origin }: RankCall, signal: AbortSignal) {
    return readServed(await this.calls({ ...origin, kind: 'rerank', body: bytesOf(order) }, signal), Ranks);
  }

  override async moderate({ order, ...origin }: ModerationCall, signal: AbortSignal) {
    const call = { ...origin, kind: 'moderation' as const, body: bytesOf(order) };
    return readServed(await this.calls(call, signal), Verdicts);
  }
}

class RemoteSpeech extends Speech {
  constructor(private readonly streams: RemoteStreams) {
    super();
  }

  override speak({ text, ...origin }: SpeechCall, signal: AbortSignal): Promise<ChunkStream> {
    return this.streams({ ...origin, kind: 'speech', body: bytesOf(text) }, signal);
  }
}

class RemoteBackendJobs extends BackendJobs {
  constructor(
    private readonly calls: RemoteCalls,
    private readonly streams: RemoteStreams,
  ) {
    super();
  }

  override async submit({ order, ...origin }: JobOrderCall, signal: AbortSignal) {
    const call = { ...origin, kind: 'job-submit' as const, body: bytesOf(order) };
    return readServed(await this.calls(call, signal), BackendJob);
  }

  override async status({ job, ...others }: JobCall, signal: AbortSignal) {
    const call = { ...others, kind: 'job-status' as const, body: bytesOf({ job }) };
    return readServed(await this.calls(call, signal), BackendJobStatus);
  }

  override content({ job, ...others }: JobCall, signal: AbortSignal): Promise<ChunkStream> {
    return this.streams({ ...others, kind: 'job-content', body: bytesOf({ job }) }, signal);
  }

  override cancel({ job, ...others }: JobCall, signal: AbortSignal): Promise<ServedBy> {
    return this.calls({ ...others, kind: 'job-cancel', body: bytesOf({ job }) }, signal);
  }
}

/** The ports of a router in another process, over its calls. */
export const remotePorts = (calls: RemoteCalls, streams: RemoteStreams) => ({
  embeddings: new RemoteEmbeddings(calls),
  images: new RemoteImageOrders(calls),
  enclaves: new RemoteEnclaveReports(calls),
  jobs: new RemoteBackendJobs(calls, streams),
  nodes: new RemoteNodes(calls),
  scores: new RemoteScores(calls),
  speech: new RemoteSpeech(streams),
  transcriptions: new RemoteTranscriptions(calls),
});
