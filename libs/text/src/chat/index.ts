export { Completions } from './completions.js';
export { costAtMostNano, priceUsage } from './chat-price.js';
