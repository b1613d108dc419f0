import type { FactoryProvider } from '@nestjs/common';
import {
  BackendJobs,
  BackendStates,
  Chat,
  Embeddings,
  EnclaveReports,
  ImageOrders,
  Nodes,
  Scores,
  Speech,
  Transcriptions,
} from '@svc/contracts/inference';
import { RouterPorts } from './api/router-ports.js';

/** The ports of a router. */
export const PORTS = [
  BackendJobs,
  BackendStates,
  Chat,
  Embeddings,
  EnclaveReports,
  ImageOrders,
  Nodes,
  Scores,
  Speech,
  Transcriptions,
];

const portOf = (
  provide: FactoryProvider['provide'],
  of: (router: RouterPorts) => object,
): FactoryProvider => ({
  provide,
  useFactory: of,
  inject: [RouterPorts],
});

/** Provides each of them from the router of the module. */
export const portProviders: FactoryProvider[] = [
  portOf(Chat, ({ chat }) => chat),
  portOf(BackendJobs, ({ jobs }) => jobs),
  portOf(BackendStates, ({ states }) => states),
  portOf(Embeddings, ({ embeddings }) => embeddings),
  portOf(EnclaveReports, ({ enclaves }) => enclaves),
  portOf(ImageOrders, ({ images }) => images),
  portOf(Nodes, ({ nodes }) => nodes),
  portOf(Scores, ({ scores }) => scores),
  portOf(Speech, ({ speech }) => speech),
  portOf(Transcriptions, ({ transcriptions }) => transcriptions),
];
