export { FileMediaStore } from './files/file-media-store.js';
export { MediaStore } from './files/media-store.js';
export { openMediaStore } from './files/open-media-store.js';
export {
  type MediaJobsClientConfig,
  type MediaJobsConfig,
  mediaJobsClientConfig,
  mediaJobsConfig,
  mediaStoreConfig,
} from './media-jobs.config.js';
export { MediaJobsApiModule } from './media-jobs-api.module.js';
export { MediaJobsClientModule } from './media-jobs-client.module.js';
export { MediaJobsModule } from './media-jobs.module.js';
