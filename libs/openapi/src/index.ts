export { codeSamples } from './code-samples.js';
export { llmsText } from './introduction.js';
export { TREATMENTS } from './field-treatments.js';
export { type OpenApiAudience, openApiDocument } from './openapi.js';
export { resolvePart } from './shared-parts.js';
