export { checkJson } from './json-check.js';
export { jsonElements, jsonMembers, jsonObject } from './json-members.js';
export {
  elementsOf,
  joinedStrings,
  type JsonPart,
  listPart,
  membersOf,
  objectPart,
  partOf,
  prefixedPart,
} from './json-part.js';
export { jsonSize } from './json-size.js';
export { stringEnd } from './json-text.js';
export { KnownJson } from './known-json.js';
export { refuseUrls } from './refuse-urls.js';
export { foldedName, type MemberShape, type ObjectShape, type Shape } from './shape.js';
export { dropSteering, withoutSteering } from './steering-members.js';
export { unknownFieldsOf } from './unknown-fields.js';
export { writtenJson } from './written-json.js';
