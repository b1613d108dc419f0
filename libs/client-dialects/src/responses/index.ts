export { ResponsesController } from './responses.controller.js';
