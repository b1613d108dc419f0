import { lastUserText } from '../request/chat-request.js';
import type { SimulatorRequest, FunctionTool } from '../request/chat-request.js';
import { exactReply } from './exact-reply.js';
import type { FaultName } from '../request/faults.js';
import type { Overrides } from '../request/overrides.js';
import { prose } from './prose.js';
import { Hash, Random } from '../random.js';
import { sampleSchema } from './schema-sample.js';
import { tokenize } from '../tokenizer.js';
import { chooseTools, toolResultReply } from './tool-call.js';

/**
 * One token of output. The start of a tool call counts as a token, and so does each piece of its arguments.
 */
export type CompletionStep =
  | { readonly kind: 'reasoning'; readonly text: string }
  | { readonly kind: 'content'; readonly text: string }
  | { readonly kind: 'tool-start'; readonly call: number; readonly id: string; readonly name: string }
  | { readonly kind: 'tool-arguments'; readonly call: number; readonly text: string };

export type SimulatedFinish = 'stop' | 'length' | 'tool_calls' | 'content_filter';

/** One choice of a completion, token by token. */
export interface SimulatedCompletion {
  readonly steps: readonly CompletionStep[];
  readonly finishReason: SimulatedFinish;
}

export interface CompletionSettings {
  readonly modelId: string;
  /** Together with the choice, determines everything random. */
  readonly seed: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  readonly overrides: Overrides;
  readonly faults: ReadonlySet<FaultName>;
  /** The last user message without directives. */
  readonly userText: string;
}

const NO_THINK = '/no_think';

/** Composes one choice of the completion, deterministically. */
export function composeCompletion(
  request: SimulatorRequest,
  settings: CompletionSettings,
  choice: number,
): SimulatedCompletion {
  if (settings.faults.has('empty')) return { steps: [], finishReason: 'stop' };
  const random = new Random(new Hash().addNumber(settings.seed).addNumber(choice).value());
  const userText = settings.userText.replaceAll(NO_THINK, '').trim();
  const thought = composeThought(request, settings, random);
  const tools = chooseTools(request, settings.overrides, userText);
  const body: SimulatedCompletion =
    tools.length > 0
      ? {
          steps: tools.flatMap((tool, call) =>
            toolSteps(tool, call, { random, userText, dictated: settings.overrides.arguments }),
          ),
          finishReason: 'tool_calls',
        }
      : {
          steps: stopAt(composeContent(request, { ...settings, userText }, random), request.stop),
          finishReason: 'stop',
        };
  const steps = [...thought, ...body.steps];
  const limit = request.maxTokens ?? steps.length;
  if (steps.length > limit) return { steps: steps.slice(0, limit), finishReason: 'length' };
  if (!settings.faults.has('content-filter')) return { steps, finishReason: body.finishReason };
  return { steps: steps.slice(0, settings.overrides.after ?? steps.length), finishReason: 'content_filter' };
}

/** The number of reasoning tokens. */
export function countReasoning(response: SimulatedCompletion): number {
  return response.steps.reduce((count, step) => count + (step.kind === 'reasoning' ? 1 : 0), 0);
}

function composeThought(
  request: SimulatorRequest,
  settings: CompletionSettings,
  random: Random,
): CompletionStep[] {
  const { modelId, overrides, reasoningTokens } = settings;
  const hasTags = modelId.includes('think') && !modelId.includes('reason');
  const reasons =
    hasTags ||
    modelId.includes('reason') ||
    overrides.think !== undefined ||
    overrides.reasoningDetails === true;
  const count = overrides.think ?? reasoningTokens;
  if (!reasons || count === 0 || request.thinkingOff || lastUserText(request.messages).includes(NO_THINK))
    return [];
  const words = prose(random, count);
  if (!hasTags) return words.map((text) => ({ kind: 'reasoning', text }));
  return ['<think>', '\n', ...words, '\n', '</think>', '\n\n'].map((text) => ({ kind: 'content', text }));
}

function composeContent(request: SimulatorRequest, settings: CompletionSettings, random: Random): string[] {
  const { userText, overrides } = settings;
  const format = request.responseFormat;
  if (format.type === 'json_schema')
    return tokenize(JSON.stringify(sampleSchema(format.schema, random, userText)) ?? 'null');
  const international = settings.faults.has('split-utf8');
  const free = (): string[] => prose(random, overrides.outputTokens ?? settings.outputTokens, international);
  if (format.type === 'json_object')
    return tokenize(JSON.stringify({ response: dictatedText(request, settings) ?? free().join('') }));
  const dictated = dictatedText(request, settings);
  return dictated === undefined ? free() : tokenize(dictated);
}

function dictatedText(
  request: SimulatorRequest,
  { overrides, userText }: CompletionSettings,
): string | undefined {
  if (overrides.echo === true) return userText;
  // A requested number of tokens takes precedence over the text.
  return (
    toolResultReply(request) ?? (overrides.outputTokens === undefined ? exactReply(userText) : undefined)
  );
}

function toolSteps(
  tool: FunctionTool,
  call: number,
  source: { random: Random; userText: string; dictated: string | undefined },
): CompletionStep[] {
  const { random, userText, dictated } = source;
  const id = `call_${Array.from({ length: 24 }, () => random.whole(0, 35).toString(36)).join('')}`;
  const sampled = sampleSchema(tool.parameters, random, userText);
  const json = JSON.stringify(typeof sampled === 'object' && sampled !== null ? sampled : {});
  const pieces = tokenize(dictated ?? json).map((text): CompletionStep => ({
    kind: 'tool-arguments',
    call,
    text,
  }));
  return [{ kind: 'tool-start', call, id, name: tool.name }, ...pieces];
}

/** Cuts the tokens before the first occurrence of a stop sequence. */
function stopAt(tokens: string[], stops: readonly string[]): CompletionStep[] {
  const toStep = (text: string): CompletionStep => ({ kind: 'content', text });
  const text = stops.length === 0 ? '' : tokens.join('');
  const places = stops.filter((stop) => stop !== '').map((stop) => text.indexOf(stop));
  const first = Math.min(...places.filter((place) => place >= 0));
  if (!Number.isFinite(first)) return tokens.map(toStep);
  const kept: CompletionStep[] = [];
  let length = 0;
  for (const token of tokens) {
    if (length >= first) break;
    kept.push(toStep(token.slice(0, first - length)));
    length += token.length;
  }
  return kept;
}
