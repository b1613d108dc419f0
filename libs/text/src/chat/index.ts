export { Completions } from './completions.js';
