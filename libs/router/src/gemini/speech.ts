import { BackendError, errorStatus } from '@svc/backend-calls';
import { type SpokenText, unusable } from '@svc/contracts/inference';
import { readChoiceEnd } from '@svc/contracts/messages';
import { RESPONSE_JSON_LIMITS, jsonOrUndefined } from '@svc/runtime';
import { z } from 'zod';
import type { EventMaker } from '../chat/made-events.js';
import { unsupported } from '../chat/other-forms.js';

/** The body of `streamGenerateContent` for a model that speaks. Throws BackendError for what it has not. */
export function speechBody(text: SpokenText): object {
  const { input, voice, format, speed, language, instructions, temperature, topP, others } = text;
  if (format !== 'pcm') throw unsupported('this model speaks in the format pcm only', 'response_format');
  if (speed !== undefined && speed !== 1) throw unsupported('this model has no speeds', 'speed');
  // How to speak is a part of the prompt, as in the provider's guide.
  const prompt = instructions === undefined ? input : `${instructions}: ${input}`;
  return {
    contents: [{ role: 'user', parts: [{ text: prompt }] }],
    generationConfig: {
      ...others,
      responseModalities: ['AUDIO'],
      speechConfig: { languageCode: language, voiceConfig: { prebuiltVoiceConfig: { voiceName: voice } } },
      temperature,
      topP,
    },
  };
}

const Text = z.string().optional();

/** Source: the SDK of the provider. */
const Spoken = z.object({
  candidates: z
    .array(
      z.object({
        finishReason: Text,
        content: z
          .object({
            parts: z
              .array(
                z.object({ inlineData: z.object({ mimeType: z.string(), data: z.string() }).optional() }),
              )
              .default([]),
          })
          .optional(),
      }),
    )
    .default([]),
  promptFeedback: z.object({ blockReason: Text }).optional(),
});

/** The types of samples as PCM has them here. */
const SAMPLES = /^audio\/(?:l16|pcm)\b/i;

const LINE_END = 0x0a;
const DATA_LINE = /^data:/;

/** Some models send all of their speech in one event: eight minutes and more. */
const EVENT_LIMIT_BYTES = 32 * 1024 * 1024;

/** The samples in the server-sent events of a stream, each of which has one line of data. */
export class SpeechEvents implements EventMaker {
  private line: Buffer[] = [];
  private lineBytes = 0;
  private hasSpoken = false;
  private isFinished = false;

  read(parts: readonly Buffer[]): readonly Buffer[] {
    const samples: Buffer[] = [];
    for (const part of parts) {
      let from = 0;
      for (let end = part.indexOf(LINE_END); end >= 0; end = part.indexOf(LINE_END, from)) {
        this.keep(part.subarray(from, end));
        samples.push(...this.samplesIn(Buffer.concat(this.line).toString()));
        this.line = [];
        this.lineBytes = 0;
        from = end + 1;
      }
      this.keep(part.subarray(from));
    }
    this.hasSpoken ||= samples.length > 0;
    return samples;
  }

  /** Throws if the stream ends before the speech. */
  end(): void {
    if (!this.isFinished) throw unusable('the stream ended before the speech');
  }

  private keep(part: Buffer): void {
    this.lineBytes += part.length;
    if (this.lineBytes > EVENT_LIMIT_BYTES) throw unusable('an event of the backend is too large');
    if (part.length > 0) this.line.push(part);
  }

  private samplesIn(line: string): Buffer[] {
    if (!DATA_LINE.test(line)) return [];
    const data = line.replace(DATA_LINE, '');
    const status = errorStatus(data, true);
    if (status !== undefined) throw this.failure(status, data);
    const event = Spoken.safeParse(jsonOrUndefined(data, RESPONSE_JSON_LIMITS)).data;
    if (!event) throw unusable('an event of the backend is in an unknown form');
    const { candidates, promptFeedback } = event;
    if (promptFeedback?.blockReason !== undefined) throw this.filtered();
    const [{ finishReason, content } = {}] = candidates;
    const samples = (content?.parts ?? []).flatMap(({ inlineData }) => (inlineData ? [inlineData] : []));
    if (!samples.every(({ mimeType }) => SAMPLES.test(mimeType)))
      throw unusable('the backend sends something else than samples');
    this.finish(finishReason);
    return samples.map((each) => Buffer.from(each.data, 'base64')).filter(({ length }) => length > 0);
  }

  /** Speech that ends for any other reason was cut. */
  private finish(reason: string | undefined): void {
    const { end } = readChoiceEnd(reason);
    if (end === 'not yet') return;
    if (end === 'content_filter') throw this.filtered();
    if (end !== 'stop') throw unusable('the backend cut the speech');
    this.isFinished = true;
  }

  private filtered(): Error {
    const message = 'the text or its speech violates a policy of the provider';
    return this.failure(400, JSON.stringify({ error: { code: 'content_filter', message } }));
  }

  /** Only before the first samples can a failure have its status, and another backend be called. */
  private failure(status: number, body: string): Error {
    return this.hasSpoken ? unusable('the backend failed within the speech') : new BackendError(status, body);
  }
}
