import type { IncomingHttpHeaders } from 'node:http';
import { composeAnswer } from './answer.js';
import type { Answer } from './answer.js';
import { ApiError, contextExceeded, invalidRequest } from './api-error.js';
import { lastUserText, parseChatRequest } from './chat-request.js';
import type { ChatRequest } from './chat-request.js';
import type { FaultName } from './faults.js';
import type { Overrides } from './overrides.js';
import { overridesOfHeaders, overridesOfJson, overridesOfModel, overridesOfText } from './overrides.js';
import { Pace } from './pace.js';
import { measurePrompt } from './prompt.js';
import type { Prompt } from './prompt.js';
import { Hash } from './random.js';
import type { Simulation } from './simulation.js';

/** One request with all that it asks of the simulator, its own settings applied. */
export interface Call {
  readonly id: string;
  /** Unix seconds. */
  readonly created: number;
  readonly modelId: string;
  readonly request: ChatRequest;
  readonly prompt: Prompt;
  readonly overrides: Overrides;
  readonly faults: ReadonlySet<FaultName>;
  /** The last user message without directives. */
  readonly userText: string;
  readonly seed: number;
  /** Set when nothing outside the text of the request has a say. */
  readonly reading: Reading | undefined;
}

/** Choices times tokens, so that one request can't fill the memory. */
const MAX_OUTPUT = 4_000_000;

/** What the text of a request says by itself, so that the same text need not be read twice. */
export interface Reading {
  readonly request: ChatRequest;
  readonly modelId: string;
  readonly prompt: Prompt;
  readonly userText: string;
  /** Settings in the model name, the body and the directives. */
  readonly overrides: Overrides;
  /** The answers when nothing outside the text changes them; filled in by the first request. */
  answers: Answer[] | undefined;
}

/** Texts above this length are read anew each time. */
const REMEMBERED_LENGTH = 16_384;
const REMEMBERED_READINGS = 256;
/** Longer answers are composed anew each time. */
const REMEMBERED_TOKENS = 1024;

/** Reads a request; throws an `ApiError` when it can't be served. */
export function readCall(
  simulation: Simulation,
  id: string,
  received: { text: string; headers: IncomingHttpHeaders },
): Call {
  const reading = readText(simulation, received.text);
  const { outputTokens, seed } = simulation.options;
  const { request, prompt } = reading;
  const outside = { ...simulation.takeDefaults(), ...overridesOfHeaders(received.headers) };
  const overrides: Overrides = { ...outside, ...reading.overrides };
  const chance = simulation.randomFaults();
  if (request.n * Math.max(overrides.outputTokens ?? outputTokens, overrides.think ?? 0) > MAX_OUTPUT) {
    throw invalidRequest('Too many output tokens over all choices.', 'n', 'invalid_value');
  }
  return {
    id,
    created: Math.floor(Date.now() / 1000),
    modelId: reading.modelId,
    request,
    prompt,
    overrides,
    faults: new Set([...(overrides.faults ?? []), ...chance]),
    userText: reading.userText,
    seed: new Hash().addNumber(seed).addNumber(request.seed).addNumber(prompt.hash).value(),
    reading: Object.keys(outside).length === 0 && chance.length === 0 ? reading : undefined,
  };
}

function readText(simulation: Simulation, text: string): Reading {
  const { options, readings } = simulation;
  const known = readings.get(text);
  if (known !== undefined) return known;
  const request = parseChatRequest(text);
  const { id: modelId, overrides: ofModel } = overridesOfModel(request.model);
  const { text: userText, overrides: ofText } = overridesOfText(lastUserText(request.messages));
  const { models, contextTokens } = options;
  if (models !== undefined && !models.includes(modelId)) {
    const message = `The model \`${modelId}\` does not exist or you do not have access to it.`;
    throw new ApiError(404, message, { param: 'model', code: 'model_not_found' });
  }
  const prompt = measurePrompt(request, modelId);
  if (contextTokens > 0 && prompt.tokens > contextTokens) throw contextExceeded(contextTokens, prompt.tokens);
  const overrides = { ...ofModel, ...overridesOfJson(request.body['sim']), ...ofText };
  const reading: Reading = { request, modelId, prompt, userText, overrides, answers: undefined };
  if (text.length <= REMEMBERED_LENGTH) {
    if (readings.size >= REMEMBERED_READINGS) readings.clear();
    readings.set(text, reading);
  }
  return reading;
}

/** The answer of every choice. */
export function composeAnswers(call: Call, { options }: Simulation): readonly Answer[] {
  const { reading, request } = call;
  if (reading?.answers !== undefined) return reading.answers;
  const settings = { ...call, outputTokens: options.outputTokens, reasoningTokens: options.reasoningTokens };
  const answers = Array.from({ length: request.n }, (_, choice) => composeAnswer(request, settings, choice));
  const tokens = answers.reduce((sum, { steps }) => sum + steps.length, 0);
  if (reading !== undefined && tokens <= REMEMBERED_TOKENS) reading.answers = answers;
  return answers;
}

/** The times at which the answer's tokens are due; asked twice, it gives the same times. */
export function paceOf(call: Call, { options }: Simulation, cachedTokens: number): Pace {
  const { overrides, prompt, seed } = call;
  const settings = {
    ttftMs: overrides.ttftMs ?? options.ttftMs,
    itlMs: overrides.itlMs ?? options.itlMs,
    jitter: overrides.jitter ?? options.jitter,
    prefillUsPerToken: options.prefillUsPerToken,
  };
  return new Pace(settings, prompt.tokens - cachedTokens, seed);
}
