export { TextModule } from './text.module.js';
