export { type ChatPlan, chatBody, chatCall, planChat } from './chat-plan.js';
export { joinedContents, textPart } from './message-contents.js';
export { originalChat, type OriginalParts, type OriginalRequest } from './original-request.js';
export { allEmpty, Preparation } from './preparation.js';
export type { SearchTerms } from '../web/web-plan.js';
export { forTemplates } from './template-roles.js';
export {
  atOrigin,
  type Origin,
  translated,
  type TranslatedRequest,
  unknownMembersOf,
} from './translated-request.js';
