import {
  type Embeddings,
  type EnclaveReports,
  type ImageOrders,
  type Nodes,
  type Transcriptions,
  InferenceRouter,
} from '@svc/contracts/inference';

/** A router with a port for each kind of call. */
export abstract class RouterPorts extends InferenceRouter {
  abstract readonly embeddings: Embeddings;
  abstract readonly enclaves: EnclaveReports;
  abstract readonly images: ImageOrders;
  abstract readonly nodes: Nodes;
  abstract readonly transcriptions: Transcriptions;
}
