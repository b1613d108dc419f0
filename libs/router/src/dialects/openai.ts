import { jsonHeaders } from '@svc/backend-calls';
import { moderations } from '../scores/moderations.js';
import { rerankOf } from '../scores/rerank-forms.js';
import type { Dialect } from '../dialect/dialect.js';
import { chat } from './openai-chat.js';
import { embeddings } from './openai-embeddings.js';
import { images } from './openai-images.js';
import { speech } from './openai-speech.js';
import { transcriptions } from './openai-transcriptions.js';
import { jobs } from './openai-videos.js';

/** OpenAI's API as implemented by vLLM, SGLang, llama.cpp, Ollama, LM Studio and the simulator. */
export const openai = {
  headers: jsonHeaders,
  chat,
  embeddings,
  images,
  jobs,
  moderations,
  rerank: rerankOf('openai'),
  speech,
  transcriptions,
} satisfies Dialect;
