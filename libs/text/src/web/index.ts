export { citationDate, WebResearch } from './web-research.js';
