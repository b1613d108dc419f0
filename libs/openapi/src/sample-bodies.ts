import type { JsonObject } from './json-schema.js';

/** The body of a sample: JSON, or the fields of a form with the paths of its files. */
export interface SampleBody {
  readonly json?: JsonObject;
  readonly fields?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
}

const TEXT = { model: 'llama-3.2-3b' };
const HELLO = [{ role: 'user', content: 'Hello' }];
const PICTURE = 'https://example.com/photo.jpg';
const VIDEO = { model: 'wan-2.2', prompt: 'A boat on a lake', duration: '5s' };
const MUSIC = { model: 'ace-step', prompt: 'A calm piano piece' };
const QUEUE_ID = '0199f3a1-c2d3-7b8e-9f00-0123456789ab';
const AUDIO = { fields: { model: 'whisper-large-v3' }, files: { file: 'speech.mp3' } };

const json = (value: JsonObject): SampleBody => ({ json: value });

/** The bodies of samples, by the operation. Those that are absent have an example in the description. */
export const SAMPLE_BODIES: Readonly<Record<string, SampleBody>> = {
  createCompletion: json({ ...TEXT, prompt: 'Once upon a time', max_tokens: 100 }),
  createResponse: json({ ...TEXT, input: 'Hello' }),
  countResponseInputTokens: json({ ...TEXT, input: 'Hello' }),
  createMessage: json({ ...TEXT, max_tokens: 500, messages: HELLO }),
  countMessageTokens: json({ ...TEXT, messages: HELLO }),
  createMessageBatch: json({
    requests: [{ custom_id: '1', params: { ...TEXT, max_tokens: 500, messages: HELLO } }],
  }),
  createEmbeddings: json({ model: 'bge-m3', input: ['A text', 'Another text'] }),
  rerank: json({ model: 'bge-reranker-v2-m3', query: 'capital of France', documents: ['Paris', 'Rome'] }),
  createModeration: json({ model: 'llama-guard-3', input: 'Hello' }),
  createSpeech: json({ model: 'kokoro', voice: 'af_sky', input: 'Hello' }),
  createVoice: { fields: { model: 'qwen3-tts' }, files: { file: 'voice.wav' } },
  createTranscription: AUDIO,
  createTranslation: AUDIO,
  createFile: { fields: { purpose: 'batch' }, files: { file: 'requests.jsonl' } },
  createBatch: json({
    input_file_id: 'file-0199f3a1c2d37b8e',
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
  }),
  generateImage: json({ model: 'flux-schnell', prompt: 'A boat on a lake' }),
  generateImages: json({ model: 'flux-schnell', prompt: 'A boat on a lake' }),
  editImages: {
    fields: { model: 'qwen-image-edit', prompt: 'Make it snow' },
    files: { image: 'photo.png' },
  },
  editImage: json({ model: 'qwen-image-edit', prompt: 'Make it snow', image: PICTURE }),
  multiEditImage: json({ modelId: 'qwen-image-edit', prompt: 'Put them side by side', images: [PICTURE] }),
  upscaleImage: json({ image: PICTURE, scale: 2 }),
  removeBackground: json({ image_url: PICTURE }),
  quoteVideo: json({ model: VIDEO.model, duration: VIDEO.duration }),
  queueVideo: json(VIDEO),
  retrieveVideo: json({ model: VIDEO.model, queue_id: QUEUE_ID }),
  completeVideo: json({ model: VIDEO.model, queue_id: QUEUE_ID }),
  quoteMusic: json({ model: MUSIC.model, duration_seconds: 60 }),
  queueMusic: json(MUSIC),
  retrieveMusic: json({ model: MUSIC.model, queue_id: QUEUE_ID }),
  completeMusic: json({ model: MUSIC.model, queue_id: QUEUE_ID }),
  searchTheWeb: json({ query: 'news of the day' }),
  readWebPage: json({ url: 'https://example.com' }),
  readFile: { files: { file: 'report.pdf' } },
  callRpc: json({ jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] }),
  rotateApiKey: json({ overlapSeconds: 3_600 }),
  rotateWebhookSecret: json({ overlapSeconds: 3_600 }),
  createWebhookEndpoint: json({ url: 'https://example.com/events', events: ['balance.low'] }),
  confirmWebhookEndpoint: json({ code: '4f2a-91bc-07de-55a1-c3e8' }),
  changeWebhookEndpoint: json({ enabled: false }),
  setAlerts: json({ alerts: [{ type: 'balance.low', currency: 'USD', amount: 5 }] }),
  prepareSolanaTransfer: json({ payer: '7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU', amount: '10' }),
};
