export {
  type RetrievalClientConfig,
  type RetrievalConfig,
  retrievalClientConfig,
  retrievalConfig,
} from './retrieval.config.js';
export { HttpRetrieval, type HttpRetrievalSettings } from './api/http-retrieval.js';
export { RetrievalApiModule } from './retrieval-api.module.js';
export { RetrievalClientModule } from './retrieval-client.module.js';
export { RetrievalModule, type RetrievalSettings } from './retrieval.module.js';
