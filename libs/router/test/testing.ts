// What tests of other libraries need of the router: its readers of responses, and the forms of providers.
export { bedrockEvent } from './event-frames.js';
export { OpenAiReader } from '../src/chat/openai-reader.js';
export { ChunkRepetition } from '../src/chat/repeated-chunk.js';
export { ReadResponse } from '../src/chat/read-chats.js';
export { CHAT_FORMS } from './chat-forms.js';
export type { Utterance, TrueCounts } from './chat-form.js';
export { countsFor, readStream, readWhole } from './read-form.js';
