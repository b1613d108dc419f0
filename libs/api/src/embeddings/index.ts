export { EmbeddingRequest } from './embeddings.js';
