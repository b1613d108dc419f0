export { MediaApiModule } from './media-api.module.js';
