import type { FactoryProvider } from '@nestjs/common';
import {
  BackendJobs,
  Embeddings,
  EnclaveReports,
  ImageOrders,
  InferenceRouter,
  Nodes,
  Speech,
  Transcriptions,
} from '@svc/contracts/inference';
import type { RouterPorts } from './api/router-ports.js';

/** The ports of a router in addition to `InferenceRouter`. */
export const PORTS = [BackendJobs, Embeddings, EnclaveReports, ImageOrders, Nodes, Speech, Transcriptions];

const portOf = (
  provide: FactoryProvider['provide'],
  of: (router: RouterPorts) => object,
): FactoryProvider => ({
  provide,
  useFactory: of,
  inject: [InferenceRouter],
});

/** Provides each of them from the router of the module. */
export const portProviders: FactoryProvider[] = [
  portOf(BackendJobs, ({ jobs }) => jobs),
  portOf(Embeddings, ({ embeddings }) => embeddings),
  portOf(EnclaveReports, ({ enclaves }) => enclaves),
  portOf(ImageOrders, ({ images }) => images),
  portOf(Nodes, ({ nodes }) => nodes),
  portOf(Speech, ({ speech }) => speech),
  portOf(Transcriptions, ({ transcriptions }) => transcriptions),
];
