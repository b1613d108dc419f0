export { characterCount, SpeechRequest } from './speech.js';
export { TranscriptionRequest, TranscriptReply, TranslationRequest } from './transcriptions.js';
