export { type RetrievalConfig, retrievalConfig } from './retrieval.config.js';
export { RetrievalModule } from './retrieval.module.js';
