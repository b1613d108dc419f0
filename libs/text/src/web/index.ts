export { citationDate } from './web-research.js';
