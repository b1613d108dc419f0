export { MediaJobsController } from './media-jobs.controller.js';
export { MediaOrders } from './media-orders.js';
export { MediaResults } from './media-results.js';
