export { AttachmentFetcher } from './attachment-fetcher.js';
export { Attachments } from './attachments.js';
export { FileTexts } from './file-texts.js';
