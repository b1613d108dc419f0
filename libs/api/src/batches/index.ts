export {
  BATCH_FILE_BYTES,
  FileDeleted,
  FileFields,
  FilePage,
  FileParams,
  FileQuery,
  FileUpload,
  FileView,
  PageQuery,
} from './files.js';
export {
  BATCH_ENDPOINTS,
  BATCH_LINES,
  BATCH_STATES,
  type BatchEndpoint,
  BatchPage,
  BatchParams,
  BatchRequest,
  type BatchState,
  BatchView,
} from './batches.js';
