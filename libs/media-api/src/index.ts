export { MediaApiModule } from './media-api.module.js';
export { endpointOfOrigin } from './media-jobs/callbacks.store.js';
