export { characterNotFound } from './character-search.js';
export { findModel, findTextModel, textModelNamed } from './model-lookup.js';
export { effectiveParameters, refuseUnavailable } from './svc-parameters.js';
