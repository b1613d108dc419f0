import type { IncomingMessage, ServerResponse } from 'node:http';
import { ApiError } from '../http/api-error.js';
import { composeAnswers, paceOf, readCall } from './call.js';
import type { SimulatedCall } from './call.js';
import { sendCompletion } from './completion.js';
import { ClientGone, ClientConnection, MAX_WAIT_MS } from '../http/connection.js';
import { faultError } from '../request/faults.js';
import { closeEntry, openEntry } from './entries.js';
import type { LogEntry } from './log.js';
import type { Simulation } from './simulation.js';
import { QueueFull } from './slots.js';
import { streamCompletion } from './stream.js';
import type { ClientExchange, Progress } from './work.js';

const DEFAULT_RETRY_S = 1;
const DEFAULT_DELAY_MS = 1000;

/** Serves one chat completion request. Never rejects: the outcome goes to the client and to the log. */
export async function serveChat(
  simulation: Simulation,
  received: { request: IncomingMessage; text: string },
  response: ServerResponse,
): Promise<void> {
  const id = simulation.enclave.idOf(received.request.headers) ?? simulation.newId();
  const progress: Progress = { phase: 'queued', delivered: () => 0 };
  const entry = openEntry(simulation, id, received);
  const connection = new ClientConnection(response, () => logCancellation(simulation, entry, progress));
  try {
    const call = readCall(simulation, id, { text: received.text, headers: received.request.headers });
    Object.assign(entry, {
      model: call.request.model,
      stream: call.request.stream,
      promptTokens: call.prompt.tokens,
    });
    const isIntact = await respond(simulation, call, { connection, entry, progress });
    closeEntry(simulation, entry, isIntact ? 'served' : 'fault');
  } catch (error) {
    // Already logged as cancelled, unless this side stopped waiting.
    if (error instanceof ClientGone) return closeEntry(simulation, entry, 'fault');
    const refusal =
      error instanceof ApiError ? error : new ApiError(500, 'The simulator failed. This is a bug in it.');
    if (refusal !== error)
      process.stderr.write(`model-simulator: ${error instanceof Error ? error.stack : String(error)}\n`);
    entry.status = refusal.status;
    closeEntry(simulation, entry, error instanceof InjectedError ? 'fault' : 'refused');
    refuse(connection, id, refusal);
  }
}

/** An error requested by a fault setting. */
class InjectedError extends ApiError {
  constructor(cause: ApiError) {
    const { param, code, retryAfterS } = cause;
    super(cause.status, cause.message, {
      ...(param !== null && { param }),
      ...(code !== null && { code }),
      ...(retryAfterS !== undefined && { retryAfterS }),
    });
  }
}

/** Serves a valid request; false if a fault broke the response. */
async function respond(
  simulation: Simulation,
  call: SimulatedCall,
  exchange: ClientExchange,
): Promise<boolean> {
  const { connection, entry, progress } = exchange;
  const { faults, overrides } = call;
  const injected = faultError(faults, overrides.retryAfterS ?? DEFAULT_RETRY_S);
  if (injected !== undefined) throw new InjectedError(injected);
  if (faults.has('cut')) {
    connection.drop();
    return false;
  }
  if (!simulation.slots.tryTake()) await waitForSlot(simulation, connection);
  try {
    progress.phase = 'prefill';
    if (faults.has('stall')) await connection.stall();
    if (faults.has('slow-headers')) await connection.pause(overrides.delayMs ?? DEFAULT_DELAY_MS);
    const state = simulation.begin(call.prompt);
    const { cachedTokens } = state;
    const completions = composeAnswers(call, simulation);
    entry.status = 200;
    entry.cachedTokens = cachedTokens;
    entry.completionTokens = completions.reduce((sum, { steps }) => sum + steps.length, 0);
    const work = {
      completions,
      cachedTokens,
      pace: () => paceOf(call, simulation, state),
      prefilled: () => state.writtenTokens ?? simulation.cache?.write(call.prompt) ?? 0,
    };
    return await (call.request.stream
      ? streamCompletion(call, work, exchange)
      : sendCompletion(call, work, exchange));
  } finally {
    simulation.slots.release();
  }
}

async function waitForSlot(simulation: Simulation, connection: ClientConnection): Promise<void> {
  const { slots, options } = simulation;
  const full = new ApiError(
    options.queueFullStatus,
    'The engine is currently overloaded, please try again later.',
    {
      retryAfterS: DEFAULT_RETRY_S,
      code: options.queueFullStatus === 429 ? 'rate_limit_exceeded' : 'engine_overloaded',
    },
  );
  try {
    const isGranted = await connection.pause(MAX_WAIT_MS, (resume) => slots.enqueue(resume));
    if (!isGranted) throw full;
  } catch (error) {
    throw error instanceof QueueFull ? full : error;
  }
}

function refuse(connection: ClientConnection, id: string, refusal: ApiError): void {
  const { retryAfterS } = refusal;
  connection.sendJson(refusal.status, refusal.body(), {
    'x-request-id': id,
    ...(retryAfterS !== undefined && { 'retry-after': String(retryAfterS) }),
  });
}

function logCancellation(simulation: Simulation, entry: LogEntry, progress: Progress): void {
  if (simulation.isStopping) return;
  // The client may leave after the last write but before all bytes are sent.
  if (entry.outcome === 'served') {
    simulation.counts.served--;
    entry.outcome = 'pending';
  }
  closeEntry(simulation, entry, 'cancelled');
  simulation.log.addCancellation({
    id: entry.id,
    model: entry.model,
    at: new Date().toISOString(),
    tokensDelivered: progress.delivered(),
    stream: entry.stream,
    phase: progress.phase,
  });
}
