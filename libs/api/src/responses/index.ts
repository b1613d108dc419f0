export { InputItem } from './response-items.js';
export { type InputTokenCount, ResponseReply, type UrlCitation } from './response-reply.js';
export { type InputTokensRequest, ResponseRequest, SEARCH_TOOLS, X_SEARCH_TOOL } from './response-request.js';
