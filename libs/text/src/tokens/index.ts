export { Tokenizers } from './tokenizers.js';
