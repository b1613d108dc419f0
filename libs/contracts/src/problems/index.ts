export { decodeProblem, encodeProblem, ProblemOnWire } from './problem-wire.js';
export { errorBody, type Issue, Problem, PROVISIONAL_MS } from './problem.js';
export { type ProblemCode, type ProblemKind, PROBLEMS } from './problems.js';
export { invalidRequest, validate, validateInSlices } from './validate.js';
