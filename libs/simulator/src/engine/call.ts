import type { IncomingHttpHeaders } from 'node:http';
import { composeCompletion } from '../completion/compose-completion.js';
import type { SimulatedCompletion } from '../completion/compose-completion.js';
import type { EncryptedExchange } from '../enclave/encrypted-exchange.js';
import { invalidRequest } from '../http/api-error.js';
import type { SimulatorRequest } from '../request/chat-request.js';
import type { FaultName } from '../request/faults.js';
import type { Overrides } from '../request/overrides.js';
import { overridesOfHeaders } from '../request/overrides.js';
import { type EngineState, Pace } from './pace.js';
import type { Prompt } from '../request/prompt.js';
import { Hash } from '../random.js';
import type { Reading } from './reading.js';
import type { Simulation } from './simulation.js';

/** A parsed request with its own settings applied. */
export interface SimulatedCall {
  readonly id: string;
  /** Unix seconds. */
  readonly created: number;
  readonly modelId: string;
  readonly request: SimulatorRequest;
  readonly prompt: Prompt;
  readonly overrides: Overrides;
  readonly faults: ReadonlySet<FaultName>;
  /** The last user message without directives. */
  readonly userText: string;
  readonly seed: number;
  /** Set if the completion depends only on the text of the request. */
  readonly reading: Reading | undefined;
  /** Set if its texts are encrypted. */
  readonly encrypted: EncryptedExchange | undefined;
}

/** Choices times tokens, so that one request can't exhaust the memory. */
const MAX_OUTPUT = 4_000_000;

/** Longer completions are not cached. */
const REMEMBERED_TOKENS = 1024;

/** Parses a request; throws an `ApiError` if it can't be served. */
export function readCall(
  simulation: Simulation,
  id: string,
  received: { text: string; headers: IncomingHttpHeaders },
): SimulatedCall {
  const encrypted = simulation.enclave.exchangeFor(id, received.headers);
  const reading = simulation.readings.read(encrypted?.opened(received.text) ?? received.text);
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
    encrypted,
  };
}

/** The completion of every choice. */
export function composeAnswers(call: SimulatedCall, { options }: Simulation): readonly SimulatedCompletion[] {
  const { reading, request } = call;
  if (reading?.completions !== undefined) return reading.completions;
  const settings = { ...call, outputTokens: options.outputTokens, reasoningTokens: options.reasoningTokens };
  const completions = Array.from({ length: request.n }, (_, choice) =>
    composeCompletion(request, settings, choice),
  );
  const tokens = completions.reduce((sum, { steps }) => sum + steps.length, 0);
  if (reading !== undefined && tokens <= REMEMBERED_TOKENS) reading.completions = completions;
  return completions;
}

/** The times at which the tokens are due; the same at each call. */
export function paceOf(
  call: SimulatedCall,
  { options }: Simulation,
  { cachedTokens, queuedMs, slowdown }: EngineState,
): Pace {
  const { overrides, prompt, seed } = call;
  const settings = {
    ttftMs: overrides.ttftMs ?? options.ttftMs,
    itlMs: overrides.itlMs ?? options.itlMs,
    jitter: overrides.jitter ?? options.jitter,
    prefillUsPerToken: options.prefillUsPerToken,
    queuedMs,
    slowdown,
  };
  return new Pace(settings, prompt.tokens - cachedTokens, seed);
}
