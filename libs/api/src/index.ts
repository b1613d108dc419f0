export { routes, TAGS } from './routes.js';
