export { type LimiterSubject, admitRequest, limiterConformance } from './limiter.conformance.js';
