export { RunningService, type ServiceOptions } from './running-service.js';
