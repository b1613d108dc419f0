import { describe, expect, it } from 'vitest';
import { differencesAt, hostedRequest } from './hosted-members.js';

const MESSAGE = {
  role: 'assistant',
  name: 'a',
  content: 'Hi',
  reasoning_content: 'Hm.',
  reasoning_details: [],
};
const REQUEST = { messages: [MESSAGE], max_tokens: 5, top_k: 3, seed: 7, logprobs: true, temperature: 0.5 };
const SAMPLING = { seed: 7, logprobs: true, temperature: 0.5 };

describe('a request for a provider with the API of OpenAI', () => {
  it.each([
    ['https://api.openai.com/v1', { max_completion_tokens: 5, ...SAMPLING }, ['role', 'name', 'content']],
    [
      'https://x.openai.azure.com/openai/v1',
      { max_completion_tokens: 5, ...SAMPLING },
      ['role', 'name', 'content'],
    ],
    [
      'https://api.mistral.ai/v1',
      { max_tokens: 5, random_seed: 7, temperature: 0.5 },
      ['role', 'name', 'content'],
    ],
    [
      'https://api.groq.com/openai/v1',
      { max_completion_tokens: 5, top_k: 3, seed: 7, temperature: 0.5 },
      ['role', 'content'],
    ],
    ['https://api.deepseek.com/v1', { max_tokens: 5, top_k: 3, ...SAMPLING }, Object.keys(MESSAGE)],
    ['https://api.together.xyz/v1', { max_tokens: 5, top_k: 3, ...SAMPLING }, Object.keys(MESSAGE)],
    ['https://openrouter.ai/api/v1', { max_tokens: 5, top_k: 3, ...SAMPLING }, Object.keys(MESSAGE)],
    ['https://api.x.ai/v1', { max_completion_tokens: 5, top_k: 3, ...SAMPLING }, Object.keys(MESSAGE)],
  ])('at %s has what it takes, and its name of the output limit', (url, expected, ofMessage) => {
    const differences = differencesAt(url);
    for (const limit of ['max_tokens', 'max_completion_tokens']) {
      const { max_tokens: most, ...others } = REQUEST;
      const { messages, ...made } = hostedRequest(
        { ...others, [limit]: most },
        differences ?? { limit: 'max_tokens' },
      );
      expect(made).toEqual(expected);
      expect(Object.keys((messages as object[])[0] ?? {})).toEqual(ofMessage);
    }
  });

  it.each([
    undefined,
    'http://api.openai.com/v1',
    'https://api.openai.com.example.org/v1',
    'https://vllm.example.org/v1',
  ])('is not made for a server at %s', (url) => {
    expect(differencesAt(url)).toBeUndefined();
  });
});
