import type { SimulatedCall } from './call.js';
import type { ClientConnection } from '../http/connection.js';
import { MID_FAULTS } from '../request/faults.js';
import type { FaultName, MidFault } from '../request/faults.js';
import type { Pace } from './pace.js';
import { ChunkText } from '../completion/sse.js';
import { usageOf } from '../completion/usage.js';
import { splitInsideCharacters } from '../http/utf8-split.js';
import type { ClientExchange, PlannedResponses } from './work.js';

/** Tokens before a mid-stream fault, unless configured otherwise. */
const DEFAULT_AFTER = 3;
/** Text collected before it is written; one write of many events is far cheaper than many. */
const FLUSH_LENGTH = 32_768;

/** A stream that is behind its pace yields to the event loop this often, so that it sees its client leave. */
const TURN_MS = 20;

/** Collects events and writes them in as few writes as the pace allows. */
class Output {
  private text = '';
  private tokens = 0;
  private writtenPieces = 0;

  constructor(
    readonly connection: ClientConnection,
    readonly faults: ReadonlySet<FaultName>,
  ) {}

  /** Tokens handed to the socket. */
  get written(): number {
    return this.writtenPieces;
  }

  add(text: string, tokens = 0): void {
    this.text += text;
    this.tokens += tokens;
  }

  get isFull(): boolean {
    return this.text.length >= FLUSH_LENGTH;
  }

  async flush(isThrough = false): Promise<void> {
    if (this.text === '') return;
    const text = this.text;
    this.text = '';
    this.writtenPieces += this.tokens;
    this.tokens = 0;
    if (this.faults.has('split-utf8')) {
      for (const piece of splitInsideCharacters(Buffer.from(text))) await this.connection.writeThrough(piece);
    } else if (isThrough) await this.connection.writeThrough(text);
    else await this.connection.write(text);
  }

  /** Ends the response with the remaining text, in the same write if possible. */
  async end(): Promise<void> {
    if (this.faults.has('split-utf8')) await this.flush();
    this.writtenPieces += this.tokens;
    this.connection.response.end(this.text);
  }
}

/** Streams the choices as server-sent events; false if a fault broke the stream. */
export async function streamCompletion(
  call: SimulatedCall,
  work: PlannedResponses,
  exchange: ClientExchange,
): Promise<boolean> {
  const { connection, progress } = exchange;
  const { faults, request } = call;
  const startMs = performance.now();
  const output = new Output(connection, faults);
  progress.delivered = () => output.written;
  const pace = work.pace();
  connection.response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    'x-request-id': call.id,
  });
  if (!pace.isInstant) connection.response.flushHeaders();
  if (pace.prefillMs > 0) await connection.until(startMs + pace.prefillMs);
  progress.phase = 'decode';
  const writtenTokens = work.prefilled();
  const chunks = new ChunkText(
    { id: call.id, created: call.created, model: call.modelId },
    {
      includeUsage: request.includeUsage,
      topLogprobs: request.logprobs ? request.topLogprobs : undefined,
      reasoningDetails: call.overrides.reasoningDetails === true,
      faults,
      encrypted: call.encrypted,
    },
  );
  work.completions.forEach((_, choice) => output.add(chunks.role(choice)));
  const isWhole = await streamSteps({ call, work, chunks, output, pace, startMs }, connection);
  if (!isWhole) return false;
  if (!faults.has('missing-finish')) {
    work.completions.forEach(({ finishReason }, choice) => output.add(chunks.finish(choice, finishReason)));
  }
  if (request.includeUsage && !faults.has('missing-usage')) {
    const usage = chunks.usage(
      usageOf(call.prompt, work.completions, { cachedTokens: work.cachedTokens, writtenTokens }),
    );
    output.add(faults.has('duplicate-usage') ? usage + usage : usage);
  }
  call.encrypted?.sign();
  if (!faults.has('missing-done')) output.add(chunks.done());
  await output.end();
  return !['garbage', 'missing-done', 'missing-finish', 'missing-usage'].some((name) =>
    faults.has(name as FaultName),
  );
}

interface Streaming {
  readonly call: SimulatedCall;
  readonly work: PlannedResponses;
  readonly chunks: ChunkText;
  readonly output: Output;
  readonly pace: Pace;
  readonly startMs: number;
}

/** Streams the tokens of all choices side by side; false if a fault ended the stream. */
async function streamSteps(streaming: Streaming, connection: ClientConnection): Promise<boolean> {
  const { call, work, chunks, output, pace, startMs } = streaming;
  const length = Math.max(...work.completions.map(({ steps }) => steps.length));
  const midFault = MID_FAULTS.find((name) => call.faults.has(name));
  const faultAt = midFault === undefined ? -1 : Math.min(call.overrides.after ?? DEFAULT_AFTER, length);
  let turnedMs = performance.now();
  for (let i = 0; i < length; i++) {
    if (midFault !== undefined && i === faultAt && !(await breakStream(midFault, streaming, connection)))
      return false;
    const dueMs = startMs + pace.next();
    const nowMs = performance.now();
    if (dueMs > nowMs || nowMs - turnedMs > TURN_MS) {
      await output.flush();
      await (dueMs > nowMs ? connection.until(dueMs) : connection.turn());
      turnedMs = performance.now();
    }
    for (const [choice, { steps }] of work.completions.entries()) {
      const step = steps[i];
      if (step !== undefined) output.add(chunks.step(choice, step, i), 1);
    }
    if (output.isFull) await output.flush();
  }
  return midFault === undefined || faultAt < length || breakStream(midFault, streaming, connection);
}

/** Carries out a mid-stream fault; true if the stream continues after it. */
async function breakStream(
  fault: MidFault,
  { chunks, output }: Streaming,
  connection: ClientConnection,
): Promise<boolean> {
  switch (fault) {
    case 'cut-mid-stream':
    case 'reset-mid-stream':
      await output.flush(true);
      connection.drop(fault === 'reset-mid-stream');
      return false;
    case 'stall-mid-stream':
      await output.flush(true);
      return connection.stall();
    case 'error-mid-stream': {
      const error = {
        message: 'The server had an error while generating (injected).',
        type: 'server_error',
        param: null,
        code: null,
      };
      output.add(chunks.event(JSON.stringify({ error })) + chunks.done());
      await output.end();
      return false;
    }
    case 'garbage':
      output.add(chunks.event('{"id":"chatcmpl-garbage","choices":[{"index":0,"del'));
      return true;
  }
}
