export { ChatController } from './chat.controller.js';
export { ChatPipeline } from './chat.pipeline.js';
export { Completions } from './completions.js';
export { FollowUpCall } from './follow-up-call.js';
export { Inference } from './inference.js';
export { PromptMaking } from './prompt-making.js';
