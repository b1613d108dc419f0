export { type LimiterSubject, admitRequest, limiterConformance } from './counting/limiter.conformance.js';
