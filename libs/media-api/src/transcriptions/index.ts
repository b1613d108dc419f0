export { TranscriptionsController } from './transcriptions.controller.js';
