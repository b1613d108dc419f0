import { anthropicForm } from './anthropic-form.js';
import { bedrockForm } from './bedrock-form.js';
import type { ChatForm } from './chat-form.js';
import { geminiForm } from './gemini-form.js';
import { openAiForm, plainOpenAiForm } from './openai-form.js';

/** A backend with chats, and the form of its API. */
export interface FormOfBackend {
  readonly form: ChatForm;
  readonly backend: { readonly kind: string; readonly url: string; readonly tee?: object };
}

const at = (form: ChatForm, kind: string, more: object = {}): FormOfBackend => ({
  form,
  backend: { kind, url: 'https://provider.test/v1', ...more },
});

/** Every kind with chats, and the providers with OpenAI's API that are known by their URL. */
export const CHAT_FORMS: Readonly<Record<string, FormOfBackend>> = {
  openai: at(openAiForm, 'openai'),
  'llama-cpp-python': at(openAiForm, 'llama-cpp-python'),
  simulator: at(openAiForm, 'simulator'),
  'vllm-proxy': at(openAiForm, 'vllm-proxy', { tee: {} }),
  anthropic: at(anthropicForm, 'anthropic'),
  gemini: at(geminiForm, 'gemini'),
  vertex: at(geminiForm, 'vertex'),
  bedrock: at(bedrockForm, 'bedrock'),
  azure: at(plainOpenAiForm, 'azure'),
  OpenAI: at(plainOpenAiForm, 'openai', { url: 'https://api.openai.com/v1' }),
  Mistral: at(plainOpenAiForm, 'openai', { url: 'https://api.mistral.ai/v1' }),
  Groq: at(plainOpenAiForm, 'openai', { url: 'https://api.groq.com/openai/v1' }),
  DeepSeek: at(openAiForm, 'openai', { url: 'https://api.deepseek.com/v1' }),
  Together: at(openAiForm, 'openai', { url: 'https://api.together.xyz/v1' }),
  OpenRouter: at(openAiForm, 'openai', { url: 'https://openrouter.ai/api/v1' }),
  xAI: at(openAiForm, 'openai', { url: 'https://api.x.ai/v1' }),
};
