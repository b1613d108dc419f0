import { rpcModel } from '@svc/catalog';
import {
  type Completion,
  Embeddings,
  type EmbeddingsCall,
  EmbeddingVectors,
  EnclaveReports,
  type ImageCall,
  ImageOrders,
  MadeImages,
  type NetworkCall,
  Nodes,
  type ReportCall,
  type Served,
  type SignedCall,
  Transcript,
  type TranscriptionCall,
  Transcriptions,
  type WireCall,
} from '@svc/contracts/inference';
import { EnclaveReport, EnclaveSignature } from '@svc/contracts/messages';
import type { z } from 'zod';
import { bytesOf } from '../backends/call-body.js';

/** Makes a call in another process, and returns the text of its response. */
type RemoteCalls = (call: WireCall, signal: AbortSignal) => Promise<Completion>;

function read<Result>({ body, ...servedBy }: Completion, schema: z.ZodType<Result>): Served<Result> {
  return { ...servedBy, result: schema.parse(JSON.parse(body)) };
}

class RemoteEmbeddings extends Embeddings {
  constructor(private readonly calls: RemoteCalls) {
    super();
  }

  override async vectors({ texts, ...origin }: EmbeddingsCall, signal: AbortSignal) {
    const call = { ...origin, kind: 'embeddings' as const, body: bytesOf(texts) };
    return read(await this.calls(call, signal), EmbeddingVectors);
  }
}

class RemoteImageOrders extends ImageOrders {
  constructor(private readonly calls: RemoteCalls) {
    super();
  }

  override async make({ order, ...others }: ImageCall, signal: AbortSignal) {
    return read(await this.calls({ ...others, body: bytesOf(order) }, signal), MadeImages);
  }
}

class RemoteEnclaveReports extends EnclaveReports {
  constructor(private readonly calls: RemoteCalls) {
    super();
  }

  override async report({ nonce, ...others }: ReportCall, signal: AbortSignal) {
    const call = { ...others, kind: 'tee-attestation' as const, body: bytesOf({ nonce }) };
    return read(await this.calls(call, signal), EnclaveReport);
  }

  override async signature({ signed, ...origin }: SignedCall, signal: AbortSignal) {
    const call = { ...origin, kind: 'tee-signature' as const, body: bytesOf(signed) };
    return read(await this.calls(call, signal), EnclaveSignature);
  }
}

class RemoteNodes extends Nodes {
  constructor(private readonly calls: RemoteCalls) {
    super();
  }

  override async call({ network, isSend, ...others }: NetworkCall, signal: AbortSignal) {
    const kind = isSend ? ('rpc-send' as const) : ('rpc' as const);
    const { body, ...servedBy } = await this.calls({ ...others, kind, model: rpcModel(network) }, signal);
    return { ...servedBy, result: body };
  }
}

class RemoteTranscriptions extends Transcriptions {
  constructor(private readonly calls: RemoteCalls) {
    super();
  }

  override async transcribe({ audio, file, ...others }: TranscriptionCall, signal: AbortSignal) {
    return read(await this.calls({ ...others, body: bytesOf(audio), files: [file] }, signal), Transcript);
  }
}

/** The ports of a router in another process, over its calls. */
export const remotePorts = (calls: RemoteCalls) => ({
  embeddings: new RemoteEmbeddings(calls),
  images: new RemoteImageOrders(calls),
  enclaves: new RemoteEnclaveReports(calls),
  nodes: new RemoteNodes(calls),
  transcriptions: new RemoteTranscriptions(calls),
});
