import {
  type BackendJobs,
  type Embeddings,
  type EnclaveReports,
  type ImageOrders,
  type Nodes,
  type Speech,
  type Transcriptions,
  InferenceRouter,
} from '@svc/contracts/inference';

/** A router, with ports for all kinds of calls but chats. */
export abstract class RouterPorts extends InferenceRouter {
  abstract readonly embeddings: Embeddings;
  abstract readonly enclaves: EnclaveReports;
  abstract readonly images: ImageOrders;
  abstract readonly jobs: BackendJobs;
  abstract readonly nodes: Nodes;
  abstract readonly speech: Speech;
  abstract readonly transcriptions: Transcriptions;
}
