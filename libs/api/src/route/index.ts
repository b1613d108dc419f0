export { FILE_LIMIT_BYTES, FormFile, isFormFileSchema } from './form-file.js';
export {
  type Access,
  type ErrorShape,
  type HeaderGroup,
  OPERATOR_SCOPES,
  type OperatorScope,
  type RouteDefinition,
} from './route-definition.js';
