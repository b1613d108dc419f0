import {
  CALLS_AT_ONCE,
  type MethodWire,
  type PortWire,
  type RemotePort,
  readPortResult,
  wireText,
} from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import { currentStep, untraced } from '@svc/telemetry';
import type { Exchange } from './exchange.js';
import type { InternalClient } from './internal-client.js';

type AnyMethod = MethodWire<never, unknown>;

/** How to call the methods of a port. */
export interface PortClientOptions {
  /** The path of the port's POST route. */
  readonly path: string;
  /** Deadline of a call. */
  readonly deadlineMs: number;
  /** Deadlines of slower methods. Each of their calls is sent alone. */
  readonly slowMs?: Readonly<Record<string, number>>;
  /** Whether each call is sent alone, as calls that read much should be. */
  readonly alone?: boolean;
  /**
   * Methods that must not run twice; a batch with one of them is not retried. All other methods are
   * idempotent.
   */
  readonly once?: readonly string[];
  /** Methods whose callers can wait: their calls go with the next urgent ones, or after 5 ms. */
  readonly patient?: readonly string[];
}

interface WaitingCall {
  readonly text: string;
  readonly wire: AnyMethod;
  readonly isOnce: boolean;
  readonly isPatient: boolean;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Batches that wait for their first result. Calls made meanwhile go together in the next batch. */
const LANES = 4;
/**
 * Batches start at least `least` apart: half as many batches cost half as much, and a single call is not
 * delayed. While the latest batch has no result, the next one waits for it, for as long as results usually
 * take and at most `most`. A process that hangs thus delays one batch of calls, and the following ones by no
 * more than this.
 */
const TURN_MS = { least: 2, most: 50 };
/** Weight of the latest response time in the moving average. */
const WEIGHT = 0.2;
/** How long a patient call waits. */
const PATIENCE_MS = 5;
/** The most calls in the queue; further ones are rejected. */
const MOST = 20_000;
/** The most bytes of a batch, unless a single call has more. */
const BYTES = 262_144;
/** The longest result. */
const LINE_BYTES = 33_554_432;
const REFUSAL_BYTES = 200;

/**
 * Calls the methods of a port in another process. Calls made in the same turn are sent together, and under
 * load those made within a round trip; each promise settles as soon as its call ends. Rejects with the
 * problem of the method, or with UNAVAILABLE if no process responds in time.
 */
export class PortClient<Port extends object> {
  /** The port to call. */
  readonly port: RemotePort<Port>;
  private readonly methods: ReadonlyMap<string, AnyMethod>;
  private queue: WaitingCall[] = [];
  private lanes = 0;
  private isFlushing = false;
  /** Whether the queue holds a call that is not patient. */
  private isUrgent = false;
  private patience: NodeJS.Timeout | undefined;
  private turn: NodeJS.Timeout | undefined;
  private latest = { sentMs: Number.NEGATIVE_INFINITY, isAnswered: true };
  private usualMs: number = TURN_MS.least;

  constructor(
    private readonly client: InternalClient,
    wire: PortWire<Port>,
    private readonly options: PortClientOptions,
  ) {
    this.methods = new Map(Object.entries<AnyMethod>(wire as never));
    const begun = [...this.methods.keys()].map((name) => [
      name,
      (...values: unknown[]): Promise<unknown> => this.begin(name, values),
    ]);
    this.port = Object.fromEntries(begun) as RemotePort<Port>;
  }

  private begin(method: string, values: readonly unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const wire = this.methods.get(method);
      if (!wire) throw new TypeError(`the port has no method ${method}`);
      if (this.queue.length >= MOST)
        throw new Problem('UNAVAILABLE', { cause: new Error('too many calls wait') });
      const isOnce = this.options.once?.includes(method) ?? false;
      const isPatient = this.options.patient?.includes(method) ?? false;
      const step = currentStep();
      // Unrecorded traces are left out: the id would only appear in the other log, and these calls are many.
      const rest = step?.trace.isRecorded === true ? `,"traceparent":"${step.traceparent}"` : '';
      const text = `{"method":"${method}","arguments":${wireText(wire, wire.arguments, values)}${rest}}`;
      const waiting = { text, wire, isOnce, isPatient, resolve, reject };
      const slowMs = this.options.slowMs?.[method];
      // `send` never rejects: it passes errors to the waiting calls.
      if (slowMs !== undefined || this.options.alone === true)
        void this.send([waiting], { deadlineMs: slowMs ?? this.options.deadlineMs });
      else this.gather(waiting);
    });
  }

  private gather(waiting: WaitingCall): void {
    this.queue.push(waiting);
    if (waiting.isPatient) this.patience ??= setTimeout(() => this.hurry(), PATIENCE_MS);
    else this.hurry();
  }

  /** Sends the queue at the end of this turn, or when a lane is free. */
  private hurry(): void {
    this.isUrgent = true;
    if (this.isFlushing) return;
    this.isFlushing = true;
    setImmediate(() => {
      this.isFlushing = false;
      this.flush();
    });
  }

  private flush(): void {
    clearTimeout(this.turn);
    this.turn = undefined;
    while (this.queue.length > 0 && this.waitMs() <= 0) void this.sendNext(this.takeNext());
    if (this.queue.length === 0) {
      this.isUrgent = false;
      clearTimeout(this.patience);
      this.patience = undefined;
      return;
    }
    // If all lanes are busy, the next result flushes the queue instead.
    if (this.lanes < LANES) this.turn = setTimeout(() => this.flush(), this.waitMs());
  }

  /** How long the queue has to wait; infinite while all lanes are busy. */
  private waitMs(): number {
    if (this.lanes >= LANES) return Number.POSITIVE_INFINITY;
    if (this.queue.length >= CALLS_AT_ONCE) return 0;
    const { sentMs, isAnswered } = this.latest;
    const answerMs = isAnswered ? 0 : Math.min(2 * this.usualMs, TURN_MS.most);
    return sentMs + Math.max(answerMs, TURN_MS.least) - performance.now();
  }

  private takeNext(): WaitingCall[] {
    let count = 0;
    let bytes = 0;
    while (count < this.queue.length && count < CALLS_AT_ONCE) {
      bytes += this.queue[count]?.text.length ?? 0;
      if (count > 0 && bytes > BYTES) break;
      count += 1;
    }
    return this.queue.splice(0, count);
  }

  private async sendNext(batch: readonly WaitingCall[]): Promise<void> {
    this.lanes += 1;
    const sentMs = performance.now();
    const gathering = { sentMs, isAnswered: false };
    this.latest = gathering;
    const onResponse = (): void => {
      if (gathering.isAnswered) return;
      gathering.isAnswered = true;
      this.lanes -= 1;
      this.usualMs += WEIGHT * (Math.min(performance.now() - sentMs, TURN_MS.most) - this.usualMs);
      if (this.isUrgent) this.flush();
    };
    await this.send(batch, { deadlineMs: this.options.deadlineMs, onResponse });
    onResponse();
  }

  private async send(
    batch: readonly WaitingCall[],
    { deadlineMs, onResponse }: { deadlineMs: number; onResponse?: () => void },
  ): Promise<void> {
    const open = new Map(batch.entries());
    const body = `{"calls":[${batch.map(({ text }) => text).join()}]}`;
    const idempotent = !batch.some(({ isOnce }) => isOnce);
    try {
      const call = { path: this.options.path, body, deadlineMs, idempotent };
      const read = async (exchange: Exchange): Promise<string | undefined> => {
        if (exchange.status !== 200) return `${exchange.status} ${await exchange.beginning(REFUSAL_BYTES)}`;
        await readLines(exchange, (line) => {
          onResponse?.();
          settle(open, line);
        });
        return undefined;
      };
      // A batch belongs to no trace: each call carries its own.
      const refusal = await untraced(() => this.client.open(call, read));
      for (const { reject } of open.values()) reject(unavailable(refusal ?? 'a call got no response'));
    } catch (error) {
      for (const { reject } of open.values()) reject(new Problem('UNAVAILABLE', { cause: error }));
    }
  }
}

const unavailable = (reason: string): Problem =>
  new Problem('UNAVAILABLE', { cause: new Error(`the other process answered: ${reason}`) });

function settle(open: Map<number, WaitingCall>, line: string): void {
  const result = JSON.parse(line) as { at: number };
  const waiting = open.get(result.at);
  if (!waiting) return;
  open.delete(result.at);
  try {
    waiting.resolve(readPortResult(result, waiting.wire));
  } catch (error) {
    waiting.reject(error instanceof Problem ? error : new Problem('UNAVAILABLE', { cause: error }));
  }
}

const NEWLINE = 10;

/** Cut into lines before decoding: most responses are a few whole lines in one chunk. */
async function readLines(exchange: Exchange, onLine: (line: string) => void): Promise<void> {
  let begun: Buffer[] = [];
  let bytes = 0;
  for (let parts = await exchange.read(); parts.length > 0; parts = await exchange.read())
    for (const part of parts) {
      const end = part.lastIndexOf(NEWLINE);
      if (end < 0) begun.push(part);
      else {
        begun.push(part.subarray(0, end));
        for (const line of Buffer.concat(begun).toString('utf8').split('\n')) onLine(line);
        begun = [part.subarray(end + 1)];
        bytes = 0;
      }
      bytes += part.length - end - 1;
      if (bytes > LINE_BYTES) throw new RangeError(`a line has more than ${LINE_BYTES} bytes`);
    }
}
