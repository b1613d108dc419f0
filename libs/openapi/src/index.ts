export { TREATMENTS } from './field-treatments.js';
export { type OpenApiAudience, openApiDocument } from './openapi.js';
export { resolveResponse } from './shared-responses.js';
