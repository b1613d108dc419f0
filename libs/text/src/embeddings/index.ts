export { Embedder } from './embedder.js';
export { EmbeddingsController } from './embeddings.controller.js';
