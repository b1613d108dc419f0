export { TREATMENTS } from './field-treatments.js';
export { type OpenApiAudience, openApiDocument } from './openapi.js';
export { resolvePart } from './shared-parts.js';
