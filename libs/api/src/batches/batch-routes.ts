import { z } from 'zod';
import type { RouteDefinition } from '../route/route-definition.js';
import { BatchPage, BatchParams, BatchRequest, BatchView } from './batches.js';
import {
  BATCH_FILE_BYTES,
  FileDeleted,
  FilePage,
  FileParams,
  FileQuery,
  FileUpload,
  FileView,
  PageQuery,
} from './files.js';

/** The heads of a form's parts and its other members. */
const FORM_BYTES = 65_536;

const file = { tag: 'Batches', access: 'key', status: 200, headers: ['balances'] } as const;
const OF_FILE = ['INVALID_REQUEST', 'FILE_NOT_FOUND', 'UNAVAILABLE'] as const;
const OF_BATCH = ['INVALID_REQUEST', 'BATCH_NOT_FOUND', 'UNAVAILABLE'] as const;

export const batchRoutes = {
  uploadFile: {
    ...file,
    method: 'POST',
    path: '/api/v1/files',
    operationId: 'createFile',
    summary: 'Uploads a file of requests',
    description: `Each line of the file is a request: \`{"custom_id": "…", "method": "POST", "url": "/v1/chat/completions", "body": {…}}\`.
The file may have a byte order mark, and lines may end with CR LF; empty lines are ignored.`,
    body: FileUpload,
    bodyType: 'multipart/form-data',
    streamsBody: true,
    bodyLimitBytes: BATCH_FILE_BYTES + FORM_BYTES,
    reply: FileView,
    refusals: [
      'INVALID_REQUEST',
      'INVALID_CONTENT_TYPE',
      'INVALID_CONTENT_ENCODING',
      'PAYLOAD_TOO_LARGE',
      'NOT_AVAILABLE',
      'FILE_STORAGE_FULL',
      'TOO_MUCH_AT_ONCE',
      'REQUEST_INCOMPLETE',
      'UNAVAILABLE',
    ],
  },
  listFiles: {
    ...file,
    method: 'GET',
    path: '/api/v1/files',
    operationId: 'listFiles',
    summary: 'Lists the files of the account',
    description:
      'Those that were uploaded, and the results of batches; newest first, unless `order` says otherwise. `after` is the id of the last file of the page before.',
    query: FileQuery,
    reply: FilePage,
    refusals: OF_FILE,
  },
  retrieveFile: {
    ...file,
    method: 'GET',
    path: '/api/v1/files/:file_id',
    operationId: 'retrieveFile',
    summary: 'Describes a file',
    description: 'Its size, its purpose, and when it is deleted. A file of another account is not found.',
    params: FileParams,
    reply: FileView,
    refusals: OF_FILE,
  },
  downloadFile: {
    ...file,
    method: 'GET',
    path: '/api/v1/files/:file_id/content',
    operationId: 'downloadFile',
    summary: 'Returns the content of a file',
    description:
      'The bytes as they were uploaded, or the result lines of a batch; with `Range`, a part of them.',
    params: FileParams,
    reply: z.string(),
    replyType: 'application/octet-stream',
    hasRanges: true,
    refusals: [...OF_FILE, 'RANGE_NOT_SATISFIABLE', 'NOT_AVAILABLE'],
  },
  deleteFile: {
    ...file,
    method: 'DELETE',
    path: '/api/v1/files/:file_id',
    operationId: 'deleteFile',
    summary: 'Deletes a file',
    description: 'It is gone at once. A file that a batch still reads cannot be deleted.',
    params: FileParams,
    reply: FileDeleted,
    refusals: [...OF_FILE, 'FILE_IN_USE'],
  },
  createBatch: {
    ...file,
    method: 'POST',
    path: '/api/v1/batches',
    operationId: 'createBatch',
    summary: 'Runs the requests of a file',
    description: `Each line is sent as its own request, as the key that made the batch, behind the requests of all clients, and charged on its own
at the model's prices for batches. Lines are not counted by limits per minute. A line that fails does not stop the others.`,
    body: BatchRequest,
    reply: BatchView,
    refusals: [
      'INVALID_JSON',
      'INVALID_CONTENT_TYPE',
      'PAYLOAD_TOO_LARGE',
      'INVALID_REQUEST',
      'FILE_NOT_FOUND',
      'TOO_MANY_LINES',
      'NOT_AVAILABLE',
      'UNAVAILABLE',
    ],
  },
  listBatches: {
    ...file,
    method: 'GET',
    path: '/api/v1/batches',
    operationId: 'listBatches',
    summary: 'Lists the batches of the account, newest first',
    description: '`after` is the id of the last batch of the page before.',
    query: PageQuery,
    reply: BatchPage,
    refusals: OF_BATCH,
  },
  retrieveBatch: {
    ...file,
    method: 'GET',
    path: '/api/v1/batches/:batch_id',
    operationId: 'retrieveBatch',
    summary: 'Describes a batch',
    description: 'Its status, how many lines have ended, and the ids of its result files once it has ended.',
    params: BatchParams,
    reply: BatchView,
    refusals: OF_BATCH,
  },
  cancelBatch: {
    ...file,
    method: 'POST',
    path: '/api/v1/batches/:batch_id/cancel',
    operationId: 'cancelBatch',
    summary: 'Cancels a batch',
    description:
      'No further line begins, and those under way are given up and cost nothing. What is done is kept and charged. May be repeated.',
    params: BatchParams,
    reply: BatchView,
    refusals: [...OF_BATCH, 'BATCH_FINISHED'],
  },
} as const satisfies Record<string, RouteDefinition>;
