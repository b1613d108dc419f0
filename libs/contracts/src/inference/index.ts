export {
  BackendJob,
  BackendJobs,
  BackendJobStatus,
  type JobCall,
  type JobOrderCall,
} from './backend-jobs.js';
export { type RouterReport, BackendState, BackendStates, joinedReports } from './backend-states.js';
export {
  type CallFile,
  type CallKind,
  type CallOrigin,
  type CallShare,
  type JobCallKind,
  isMadeOnce,
  type Served,
  type ServedBy,
} from './calls.js';
export { Chat, type ChatCall, type ChatResponse, type OriginalChat, PromptCount } from './chat.js';
export { Drain, type DrainListener, Drains } from './drains.js';
export { Embeddings, type EmbeddingsCall, EmbeddingTexts, EmbeddingVectors } from './embeddings.js';
export { EnclaveReports, type ReportCall, type SignedCall } from './enclave-reports.js';
export {
  type ImageCall,
  ImageEdit,
  ImageOrder,
  ImageOrders,
  type ImageWork,
  MadeImages,
  ImageChange,
} from './image-orders.js';
export {
  decodeInferenceCall,
  decodeProblemTrailer,
  decodeServedBy,
  encodeInferenceCall,
  encodeProblemTrailer,
  encodeServedBy,
  INFERENCE_PATH,
  PROBLEM_TRAILER,
} from './inference-router-wire.js';
export { type NetworkCall, networkOfNodes, Nodes, nodesName } from './nodes.js';
export {
  type ModerationCall,
  ModerationOrder,
  type RankCall,
  RankOrder,
  Ranks,
  Scores,
  type ModerationVerdict,
  Verdicts,
} from './scores.js';
export { Speech, type SpeechCall, SpokenText } from './speech.js';
export { AudioToTranscribe, Transcript, type TranscriptionCall, Transcriptions } from './transcriptions.js';
export { type ChunkStream, type Completion, type StreamedBytes, type WireCall } from './inference-router.js';
export {
  type AroundText,
  REASONING_LISTS,
  type Fields,
  fieldsOf,
  isFields,
  REASONING_NAMES,
  type Piece,
  type PieceEnd,
  type RepeatedPiece,
  type Repetition,
  type Repetitions,
  type ReportedUsage,
  type ResponseFacts,
  unusable,
  type WrittenAround,
  type WrittenPiece,
} from './pieces.js';
