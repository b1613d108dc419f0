export { SIGNATURE_CHARACTERS } from './chat-bounds.js';
export { ChatCompletionChunk } from './chat-chunk.js';
export { CacheControl, ContentPart, Message } from './chat-messages.js';
export { ChatRequest, NOT_INT64, SVC_DEFAULTS, SvcParameters } from './chat-request.js';
export { ChatCompletion, Cost, SvcParametersEcho, TokenLogprob, UsageView } from './chat-response.js';
export { ToolChoice } from './chat-tools.js';
export { MEMBERS } from './schema-names.js';
