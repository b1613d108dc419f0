export { CompletionRequest } from './completions.js';
