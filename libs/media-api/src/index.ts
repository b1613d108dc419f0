export { MediaApiModule } from './media-api.module.js';
export { isSameOrigin } from './media-jobs/callbacks.store.js';
