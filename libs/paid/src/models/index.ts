export { characterNotFound } from './character-search.js';
export { type DeprecationNotice, findModel, findTextModel } from './model-lookup.js';
export { refuseAnonymous } from './model-privacy.js';
export { effectiveParameters, refuseUnavailable } from './svc-parameters.js';
