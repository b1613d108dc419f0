export { CompletionsController } from './completions.controller.js';
