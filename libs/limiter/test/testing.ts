export {
  type GivenRequest,
  type LimiterSubject,
  admitRequest,
  limitsOf,
  refusedFor,
} from './admit-request.js';
export { limiterConformance } from './limiter.conformance.js';
