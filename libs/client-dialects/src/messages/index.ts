export { MessagesController } from './messages.controller.js';
export { PromptTokens } from './prompt-tokens.js';
