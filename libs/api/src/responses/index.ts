export { InputItem } from './response-items.js';
export { ResponseReply } from './response-reply.js';
export { ResponseRequest, SEARCH_TOOLS } from './response-request.js';
