import { Problem } from '@svc/contracts/problems';
import type { RequestRecord } from '@svc/runtime';
import { currentStep, inference } from '@svc/telemetry';

const streams = inference.streams.with();

export function completionStarted(): void {
  streams.value += 1;
}

/** Counts a completion that has ended. A model in the record is always one of the catalogue. */
export function completionEnded(record: RequestRecord, error?: unknown): void {
  streams.value -= 1;
  const { model, backend = '', startedMs, firstChunkMs, promptTokens = 0, completionTokens = 0 } = record;
  if (model === undefined) return;
  const ms = performance.now() - startedMs;
  const problem = error === undefined ? record.problem : Problem.from(error);
  const span = currentStep()?.trace.measured;
  inference.duration.with(model, problem?.code ?? record.ended ?? '').record(ms / 1_000, span);
  if (backend === '') return;
  // Without tokens there was no response.
  if (promptTokens > 0) inference.tokens.with(model, backend, 'input').record(promptTokens, span);
  if (completionTokens > 0) inference.tokens.with(model, backend, 'output').record(completionTokens, span);
  if (record.stream !== true || firstChunkMs === undefined) return;
  inference.firstToken.with(model, backend).record(firstChunkMs / 1_000, span);
  if (completionTokens > 1)
    inference.perToken
      .with(model, backend)
      .record((ms - firstChunkMs) / (completionTokens - 1) / 1_000, span);
}
