export { type RerankReply, RerankRequest } from './rerank.js';
