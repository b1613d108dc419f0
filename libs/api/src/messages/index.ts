export { AssistantBlock, MessageParam, UserBlock } from './message-blocks.js';
export { MESSAGE_ERRORS, messageError } from './message-errors.js';
export { MessageUsage, TokenCount } from './message-reply.js';
export { isWebSearch, MessageToolChoice } from './message-tools.js';
export { ANTHROPIC_VERSIONS, CountTokensRequest, MessagesRequest } from './messages-request.js';
export {
  BatchedMessage,
  MessageBatchDeleted,
  MessageBatchPage,
  MessageBatchParams,
  MessageBatchQuery,
  MessageBatchView,
} from './message-batches.js';
