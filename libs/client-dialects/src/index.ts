export { ClientDialectsModule } from './client-dialects.module.js';
