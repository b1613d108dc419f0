export { type ModerationReply, ModerationRequest } from './moderations.js';
