export { FileMediaStore } from './files/file-media-store.js';
export { MediaStore } from './files/media-store.js';
export { type MediaJobsConfig, mediaJobsConfig } from './media-jobs.config.js';
export { MediaJobsModule } from './media-jobs.module.js';
