export {
  AssembledChoice,
  type ChoicePiece,
  type FinishReason,
  type WholeChoice,
} from './assembled-choice.js';
export { chatDialect, type ClientDialect } from './client-dialect.js';
export { type ChoiceShape, type CompletionHead, echoOf } from './completion-head.js';
export { DONE_FRAME, forStream, streamError } from './event-stream.js';
export { OutputNormaliser } from './normaliser.js';
export { type ChargedOutput, costView, type RepeatingEncoder, type ResponseEncoder } from './output-relay.js';
export { StreamEncoder } from './stream-encoder.js';
export { WholeEncoder } from './whole-encoder.js';
