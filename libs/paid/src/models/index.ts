export { characterNotFound } from './character-search.js';
export { CharactersController } from './characters.controller.js';
export { type DeprecationNotice, findModel, findTextModel } from './model-lookup.js';
export { refuseAnonymous } from './model-privacy.js';
export { ModelsController } from './models.controller.js';
export { effectiveParameters, refuseUnavailable } from './svc-parameters.js';
