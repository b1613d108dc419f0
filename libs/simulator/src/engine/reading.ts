import type { SimulatedCompletion } from '../completion/compose-completion.js';
import { ApiError, contextExceeded } from '../http/api-error.js';
import { type SimulatorRequest, lastUserText, parseChatRequest } from '../request/chat-request.js';
import { type Overrides, overridesOfJson, overridesOfModel, overridesOfText } from '../request/overrides.js';
import { type Prompt, measurePrompt } from '../request/prompt.js';
import type { SimulatorOptions } from './options.js';

/** The result of parsing a request's text alone, so that the same text need not be parsed twice. */
export interface Reading {
  readonly request: SimulatorRequest;
  readonly modelId: string;
  readonly prompt: Prompt;
  readonly userText: string;
  /** The settings in the model name, the body and the directives. */
  readonly overrides: Overrides;
  /** The choices, if they depend only on the text; set by the first request. */
  completions: SimulatedCompletion[] | undefined;
}

/** Longer texts are not cached. */
const REMEMBERED_LENGTH = 16_384;
const REMEMBERED_READINGS = 256;

/** Parses the texts of requests, and caches recent ones. */
export class Readings {
  private readonly known = new Map<string, Reading>();

  constructor(private readonly options: Pick<SimulatorOptions, 'models' | 'contextTokens'>) {}

  /** Throws an `ApiError` if the request can't be served. */
  read(text: string): Reading {
    const known = this.known.get(text);
    if (known !== undefined) return known;
    const reading = this.readAnew(text);
    if (text.length <= REMEMBERED_LENGTH) {
      if (this.known.size >= REMEMBERED_READINGS) this.known.clear();
      this.known.set(text, reading);
    }
    return reading;
  }

  private readAnew(text: string): Reading {
    const request = parseChatRequest(text);
    const { id: modelId, overrides: ofModel } = overridesOfModel(request.model);
    const { text: userText, overrides: ofText } = overridesOfText(lastUserText(request.messages));
    const { models, contextTokens } = this.options;
    if (models !== undefined && !models.includes(modelId)) {
      const message = `The model \`${modelId}\` does not exist or you do not have access to it.`;
      throw new ApiError(404, message, { param: 'model', code: 'model_not_found' });
    }
    const prompt = measurePrompt(request, modelId);
    if (contextTokens > 0 && prompt.tokens > contextTokens)
      throw contextExceeded(contextTokens, prompt.tokens);
    const overrides = { ...ofModel, ...overridesOfJson(request.body['sim']), ...ofText };
    return { request, modelId, prompt, userText, overrides, completions: undefined };
  }
}
