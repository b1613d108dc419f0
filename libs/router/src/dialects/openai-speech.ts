import type { SpokenText } from '@svc/contracts/inference';
import type { SpeechDialect } from '../dialect/dialect.js';

/** The members by which vLLM-Omni clones a voice. Without the text of the sample it takes the timbre only. */
const clonedFrom = ({ type, base64, text }: NonNullable<SpokenText['sample']>) => ({
  task_type: 'Base',
  ref_audio: `data:${type};base64,${base64}`,
  ...(text === undefined ? { x_vector_only_mode: true } : { ref_text: text }),
});

/**
 * OpenAI's API as implemented by vLLM-Omni, speaches and LocalAI. The format is always sent, since their
 * defaults differ.
 */
export const speech: SpeechDialect = {
  fields: new Set('seed top_k min_p repetition_penalty task_type exaggeration cfg_weight'.split(' ')),

  request({ model, streamFormats }, text) {
    const { input, sample, format, speed, language, instructions, temperature, topP, others } = text;
    // vLLM-Omni rejects `stream` with other formats; OpenAI and speaches stream without it.
    const isStreamed = text.isStreamed && streamFormats.includes(format);
    const own = { speed, language, instructions, temperature, top_p: topP };
    const voice = sample ? clonedFrom(sample) : { voice: text.voice };
    const body = { ...others, ...own, model, input, ...voice, response_format: format };
    const sent = { ...body, ...(isStreamed && { stream: true }) };
    return { path: '/audio/speech', body: [Buffer.from(JSON.stringify(sent))] };
  },
};
