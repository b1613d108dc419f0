export { type LimiterSubject, admitRequest } from './admit-request.js';
export { limiterConformance } from './limiter.conformance.js';
