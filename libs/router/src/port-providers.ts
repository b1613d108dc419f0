import type { FactoryProvider } from '@nestjs/common';
import {
  Embeddings,
  EnclaveReports,
  ImageOrders,
  InferenceRouter,
  Nodes,
  Transcriptions,
} from '@svc/contracts/inference';
import type { RouterPorts } from './api/router-ports.js';

/** The ports of a router in addition to `InferenceRouter`. */
export const PORTS = [Embeddings, EnclaveReports, ImageOrders, Nodes, Transcriptions];

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
  portOf(Embeddings, ({ embeddings }) => embeddings),
  portOf(EnclaveReports, ({ enclaves }) => enclaves),
  portOf(ImageOrders, ({ images }) => images),
  portOf(Nodes, ({ nodes }) => nodes),
  portOf(Transcriptions, ({ transcriptions }) => transcriptions),
];
