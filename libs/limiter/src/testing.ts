export { type LimiterSubject, admitRequest } from './counting/admit-request.js';
export { limiterConformance } from './counting/limiter.conformance.js';
