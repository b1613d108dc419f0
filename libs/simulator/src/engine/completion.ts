import type { SimulatedCompletion, CompletionStep } from '../completion/compose-completion.js';
import { ApiError } from '../http/api-error.js';
import type { SimulatedCall } from './call.js';
import type { ClientConnection } from '../http/connection.js';
import { contentLogprob } from '../completion/logprobs.js';
import { reasoningDetail } from '../completion/sse.js';
import { usageOf } from '../completion/usage.js';
import { splitInsideCharacters } from '../http/utf8-split.js';
import type { ClientExchange, PlannedResponses } from './work.js';

/** Sends the choices as one JSON body once all their tokens are due; false if a fault broke the response. */
export async function sendCompletion(
  call: SimulatedCall,
  work: PlannedResponses,
  exchange: ClientExchange,
): Promise<boolean> {
  const { connection, progress } = exchange;
  const startMs = performance.now();
  const pace = work.pace();
  if (pace.prefillMs > 0) await connection.until(startMs + pace.prefillMs);
  progress.phase = 'decode';
  progress.delivered = () => decodedTokens(work, performance.now() - startMs);
  const writtenTokens = work.prefilled();
  if (!pace.isInstant) await connection.until(startMs + lastDue(work));
  const { faults } = call;
  if (faults.has('error-mid-stream'))
    throw new ApiError(500, 'The server had an error while generating (injected).');
  const usage = usageOf(call.prompt, work.completions, { cachedTokens: work.cachedTokens, writtenTokens });
  const json = JSON.stringify({
    id: call.id,
    object: 'chat.completion',
    created: call.created,
    model: call.modelId,
    system_fingerprint: 'sim',
    choices: work.completions.map((completion, index) => choiceOf(call, completion, index)),
    ...(!faults.has('missing-usage') && { usage }),
  });
  return send(call, json, connection);
}

async function send(call: SimulatedCall, json: string, connection: ClientConnection): Promise<boolean> {
  const { faults } = call;
  const headers = { 'x-request-id': call.id };
  if (faults.has('garbage')) {
    connection.sendJson(200, json.slice(0, json.length / 2), headers);
    return false;
  }
  const bytes = Buffer.from(json);
  const isBroken =
    faults.has('cut-mid-stream') || faults.has('reset-mid-stream') || faults.has('stall-mid-stream');
  if (!isBroken && !faults.has('split-utf8')) {
    connection.sendJson(200, json, headers);
    return !faults.has('missing-usage');
  }
  connection.response.writeHead(200, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': bytes.length,
    ...headers,
  });
  if (isBroken) {
    await connection.writeThrough(bytes.subarray(0, bytes.length / 2));
    if (faults.has('stall-mid-stream')) return connection.stall();
    connection.drop(faults.has('reset-mid-stream'));
    return false;
  }
  for (const piece of splitInsideCharacters(bytes)) await connection.writeThrough(piece);
  connection.response.end();
  return true;
}

function lastDue(work: PlannedResponses): number {
  const pace = work.pace();
  const length = Math.max(...work.completions.map(({ steps }) => steps.length));
  let due = pace.prefillMs;
  for (let i = 0; i < length; i++) due = pace.next();
  return due;
}

/** The number of tokens, over all choices, that were due by then. */
function decodedTokens(work: PlannedResponses, elapsedMs: number): number {
  const pace = work.pace();
  const length = Math.max(...work.completions.map(({ steps }) => steps.length));
  let rounds = 0;
  while (rounds < length && pace.next() <= elapsedMs) rounds++;
  return work.completions.reduce((sum, { steps }) => sum + Math.min(rounds, steps.length), 0);
}

function choiceOf(call: SimulatedCall, completion: SimulatedCompletion, index: number): object {
  const { request, faults } = call;
  const content = request.logprobs
    ? completion.steps.flatMap((step, i) =>
        step.kind === 'content' ? [contentLogprob(step.text, i, request.topLogprobs)] : [],
      )
    : [];
  return {
    index,
    message: messageOf(call, completion),
    logprobs: request.logprobs ? { content, refusal: null } : null,
    finish_reason: faults.has('missing-finish') ? null : completion.finishReason,
  };
}

function messageOf(call: SimulatedCall, { steps }: SimulatedCompletion): object {
  const content = textOf(steps, 'content');
  const reasoning = textOf(steps, 'reasoning');
  const calls = steps.filter((step) => step.kind === 'tool-start');
  return {
    role: 'assistant',
    content: calls.length > 0 && content === '' ? null : content,
    refusal: null,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(reasoning !== '' &&
      call.overrides.reasoningDetails === true && { reasoning_details: [reasoningDetail(reasoning)] }),
    ...(calls.length > 0 && {
      tool_calls: calls.map((start) => ({
        id: start.id,
        type: 'function',
        function: { name: start.name, arguments: argumentsOf(steps, start.call) },
      })),
    }),
  };
}

function textOf(steps: readonly CompletionStep[], kind: 'content' | 'reasoning'): string {
  let text = '';
  for (const step of steps) if (step.kind === kind) text += step.text;
  return text;
}

function argumentsOf(steps: readonly CompletionStep[], call: number): string {
  let text = '';
  for (const step of steps) if (step.kind === 'tool-arguments' && step.call === call) text += step.text;
  return text;
}
