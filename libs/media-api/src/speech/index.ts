export { SpeechController } from './speech.controller.js';
export { SpeechPipeline } from './speech.pipeline.js';
export { VoicesController } from './voices.controller.js';
