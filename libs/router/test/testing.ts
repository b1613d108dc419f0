// What tests of other libraries need of the router: its readers of responses, and events of Bedrock.
export { bedrockEvent } from './event-frames.js';
export { OpenAiReader } from '../src/chat/openai-reader.js';
export { ChunkRepetition } from '../src/chat/repeated-chunk.js';
export { ReadResponse } from '../src/chat/read-chats.js';
