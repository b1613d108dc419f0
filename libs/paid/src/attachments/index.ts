export { Attachments } from './attachments.js';
