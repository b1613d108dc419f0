export { characterCount, SpeechRequest } from './speech.js';
export {
  TranscriptEvent,
  TranscriptionRequest,
  TranscriptReply,
  TranslationRequest,
} from './transcriptions.js';
export { VOICE_DAYS, VoiceReply, VoiceRequest } from './voices.js';
