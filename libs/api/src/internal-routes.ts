import { z } from 'zod';
import {
  ExtractionReply,
  RETRIEVAL_PATHS,
  PageRequestOnWire,
  WebPageReply,
  WebQueryOnWire,
  WebResultsReply,
} from '@svc/contracts/ports';
import { BackendState, Drain, INFERENCE_PATH } from '@svc/contracts/inference';
import { FileInForce } from './operator/operator-files.js';
import type { RouteDefinition } from './route/route-definition.js';

const Bytes = z.instanceof(Uint8Array);

/**
 * The routes of ports whose calls or results are bytes, of the ports of retrieval, and of the catalogue. The
 * headers of ports are defined beside them.
 */
export const internalRoutes = {
  infer: {
    method: 'POST',
    path: INFERENCE_PATH,
    operationId: 'infer',
    tag: 'Inference',
    summary: 'Calls a backend',
    access: 'internal',
    status: 200,
    body: Bytes,
    bodyType: 'application/octet-stream',
    // The largest client body, with its files converted to text.
    bodyLimitBytes: 134_217_728,
    // For calls of further backends.
    keepsBody: true,
    reply: z.string(),
    replyType: '*/*',
    refusals: [
      'INVALID_REQUEST',
      'TOO_MANY_TOKENS',
      'E2EE_ATTESTATION_STALE',
      'PAYLOAD_TOO_LARGE',
      'INFERENCE_FAILED',
      'MODEL_OFFLINE',
      'MODEL_AT_CAPACITY',
      'REQUEST_TIMEOUT',
    ],
  },
  readBackends: {
    method: 'GET',
    path: '/internal/v1/backends',
    operationId: 'readBackends',
    tag: 'Inference',
    summary: 'Shows the state of the backends, as this router sees them',
    access: 'internal',
    status: 200,
    reply: z.object({ data: z.array(BackendState) }),
    refusals: [],
  },
  readDrains: {
    method: 'GET',
    path: '/internal/v1/drains',
    operationId: 'readDrains',
    tag: 'Inference',
    summary: 'Shows the backends that operators have taken out of service',
    access: 'internal',
    status: 200,
    reply: z.object({ data: z.array(Drain) }),
    refusals: ['UNAVAILABLE'],
  },
  extractText: {
    method: 'POST',
    path: RETRIEVAL_PATHS.extractText,
    operationId: 'extractText',
    tag: 'Retrieval',
    summary: 'Reads a file as text',
    access: 'internal',
    status: 200,
    body: Bytes,
    bodyType: 'application/octet-stream',
    bodyLimitBytes: 268_435_456,
    reply: ExtractionReply,
    refusals: ['INVALID_REQUEST', 'PAYLOAD_TOO_LARGE'],
  },
  openMedia: {
    method: 'POST',
    path: '/internal/v1/media-jobs/media',
    operationId: 'openMedia',
    tag: 'Jobs',
    summary: 'Reads what a job has made',
    access: 'internal',
    status: 200,
    body: z.object({ id: z.uuid() }),
    reply: z.string(),
    replyType: 'application/octet-stream',
    refusals: ['INVALID_REQUEST', 'MEDIA_NOT_FOUND', 'UNAVAILABLE'],
  },
  searchWeb: {
    method: 'POST',
    path: RETRIEVAL_PATHS.searchWeb,
    operationId: 'searchWeb',
    tag: 'Retrieval',
    summary: 'Searches the web',
    access: 'internal',
    status: 200,
    body: WebQueryOnWire,
    reply: WebResultsReply,
    refusals: ['INVALID_REQUEST'],
  },
  readPage: {
    method: 'POST',
    path: RETRIEVAL_PATHS.readPage,
    operationId: 'readPage',
    tag: 'Retrieval',
    summary: 'Reads a web page',
    access: 'internal',
    status: 200,
    body: PageRequestOnWire,
    reply: WebPageReply,
    refusals: ['INVALID_REQUEST'],
  },
  readCatalog: {
    method: 'GET',
    path: '/internal/v1/catalog',
    operationId: 'readCatalog',
    tag: 'Health',
    summary: 'Shows the catalogue that is in force to a process that starts with a broken one',
    access: 'internal',
    status: 200,
    reply: FileInForce,
    refusals: ['NOT_FOUND'],
  },
} as const satisfies Record<string, RouteDefinition>;
