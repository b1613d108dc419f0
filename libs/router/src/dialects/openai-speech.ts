import type { Backend } from '@svc/contracts/catalog';
import type { SpokenText } from '@svc/contracts/inference';

/**
 * OpenAI's API as implemented by vLLM-Omni, speaches and LocalAI. The format is always sent, since their
 * defaults differ.
 */
export function speechBody({ model, streamFormats }: Backend, text: SpokenText): Uint8Array[] {
  const { input, voice, format, speed, language, instructions, temperature, topP, others } = text;
  // vLLM-Omni rejects `stream` with other formats; OpenAI and speaches stream without it.
  const isStreamed = text.isStreamed && streamFormats.includes(format);
  const own = { speed, language, instructions, temperature, top_p: topP };
  const body = { ...others, ...own, model, input, voice, response_format: format };
  return [Buffer.from(JSON.stringify({ ...body, ...(isStreamed && { stream: true }) }))];
}
