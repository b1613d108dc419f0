import {
  CALLS_AT_ONCE,
  type MethodWire,
  type PortWire,
  Problem,
  readPortResult,
  wireText,
} from '@svc/contracts';
import { currentStep, untraced } from '@svc/telemetry';
import type { Exchange } from './exchange.js';
import type { InternalClient } from './internal-client.js';

type AnyMethod = MethodWire<never, unknown>;

/** How the methods of a port are called. */
export interface PortClientOptions {
  /** Where the port is served, by POST. */
  readonly path: string;
  /** How long a call may take. */
  readonly deadlineMs: number;
  /** Of methods that take longer. Each of their calls goes alone. */
  readonly slowMs?: Readonly<Record<string, number>>;
  /** Whether each call goes alone, as those that read much should. */
  readonly alone?: boolean;
  /** Methods whose calls may not be done twice, nor what goes with them; of all others a second one is the first. */
  readonly once?: readonly string[];
  /** Methods for which nobody waits: their calls go with the next ones that others wait for, or after 5 ms. */
  readonly patient?: readonly string[];
}

interface Waiting {
  readonly text: string;
  readonly wire: AnyMethod;
  readonly isOnce: boolean;
  readonly isPatient: boolean;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Gatherings that wait for their first answer; what comes meanwhile goes together with the next one. */
const LANES = 4;
/**
 * Gatherings begin at least so far apart: half as many cost half as much, and a call alone does not wait. While the
 * latest one has no answer the next one waits for it, as long as answers usually take, and at most so long. A process that
 * hangs so delays the calls of one gathering, and those that follow by no more than this.
 */
const TURN_MS = { least: 2, most: 50 };
/** How much the latest answer says about how long answers usually take. */
const WEIGHT = 0.2;
/** How long a call waits that is patient. */
const PATIENCE_MS = 5;
/** Calls that wait; further ones are refused. */
const MOST = 20_000;
/** A gathering has no more bytes than this, unless a single call has. */
const BYTES = 262_144;
/** A result is not longer than this. */
const LINE_BYTES = 33_554_432;
const REFUSAL_BYTES = 200;

/**
 * Calls the methods of a port in another process. Calls that are made in the same turn go together, and under load those
 * of a round trip; each is answered as soon as it ends. Refuses: what the method does, and UNAVAILABLE where no process
 * answers in time.
 */
export class PortClient<Port extends object> {
  /** What is to be called. */
  readonly port: Port;
  private readonly methods: ReadonlyMap<string, AnyMethod>;
  private queue: Waiting[] = [];
  private lanes = 0;
  private isFlushing = false;
  /** Whether anything in the queue is not to wait longer than it has to. */
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
    this.port = Object.fromEntries(begun) as Port;
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
      // Without a record it would be an id for the other's log only, and these calls are many.
      const rest = step?.trace.isRecorded === true ? `,"traceparent":"${step.traceparent}"` : '';
      const text = `{"method":"${method}","arguments":${wireText(wire, wire.arguments, values)}${rest}}`;
      const waiting = { text, wire, isOnce, isPatient, resolve, reject };
      const slowMs = this.options.slowMs?.[method];
      // They never reject: what goes wrong is told to who waits.
      if (slowMs !== undefined || this.options.alone === true)
        void this.send([waiting], { deadlineMs: slowMs ?? this.options.deadlineMs });
      else this.gather(waiting);
    });
  }

  private gather(waiting: Waiting): void {
    this.queue.push(waiting);
    if (waiting.isPatient) this.patience ??= setTimeout(() => this.hurry(), PATIENCE_MS);
    else this.hurry();
  }

  /** What waits goes at the end of this turn, or when there is a lane. */
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
    // Where a lane is awaited, its answer goes on.
    if (this.lanes < LANES) this.turn = setTimeout(() => this.flush(), this.waitMs());
  }

  /** How long what is in the queue has to wait for its turn; more than any time where the end of a gathering is awaited. */
  private waitMs(): number {
    if (this.lanes >= LANES) return Number.POSITIVE_INFINITY;
    if (this.queue.length >= CALLS_AT_ONCE) return 0;
    const { sentMs, isAnswered } = this.latest;
    const answerMs = isAnswered ? 0 : Math.min(2 * this.usualMs, TURN_MS.most);
    return sentMs + Math.max(answerMs, TURN_MS.least) - performance.now();
  }

  private takeNext(): Waiting[] {
    let count = 0;
    let bytes = 0;
    while (count < this.queue.length && count < CALLS_AT_ONCE) {
      bytes += this.queue[count]?.text.length ?? 0;
      if (count > 0 && bytes > BYTES) break;
      count += 1;
    }
    return this.queue.splice(0, count);
  }

  private async sendNext(batch: readonly Waiting[]): Promise<void> {
    this.lanes += 1;
    const sentMs = performance.now();
    const gathering = { sentMs, isAnswered: false };
    this.latest = gathering;
    const onAnswer = (): void => {
      if (gathering.isAnswered) return;
      gathering.isAnswered = true;
      this.lanes -= 1;
      this.usualMs += WEIGHT * (Math.min(performance.now() - sentMs, TURN_MS.most) - this.usualMs);
      if (this.isUrgent) this.flush();
    };
    await this.send(batch, { deadlineMs: this.options.deadlineMs, onAnswer });
    onAnswer();
  }

  private async send(
    batch: readonly Waiting[],
    { deadlineMs, onAnswer }: { deadlineMs: number; onAnswer?: () => void },
  ): Promise<void> {
    const open = new Map(batch.entries());
    const body = `{"calls":[${batch.map(({ text }) => text).join()}]}`;
    const idempotent = !batch.some(({ isOnce }) => isOnce);
    try {
      const call = { path: this.options.path, body, deadlineMs, idempotent };
      const read = async (exchange: Exchange): Promise<string | undefined> => {
        if (exchange.status !== 200) return `${exchange.status} ${await exchange.beginning(REFUSAL_BYTES)}`;
        await readLines(exchange, (line) => {
          onAnswer?.();
          settle(open, line);
        });
        return undefined;
      };
      // Together they are a part of no trace: each call says itself of which it is.
      const refusal = await untraced(() => this.client.open(call, read));
      for (const { reject } of open.values()) reject(unavailable(refusal ?? 'a call was not answered'));
    } catch (error) {
      for (const { reject } of open.values()) reject(new Problem('UNAVAILABLE', { cause: error }));
    }
  }
}

const unavailable = (reason: string): Problem =>
  new Problem('UNAVAILABLE', { cause: new Error(`the other process answered: ${reason}`) });

function settle(open: Map<number, Waiting>, line: string): void {
  const told = JSON.parse(line) as { at: number };
  const waiting = open.get(told.at);
  if (!waiting) return;
  open.delete(told.at);
  try {
    waiting.resolve(readPortResult(told, waiting.wire));
  } catch (error) {
    waiting.reject(error instanceof Problem ? error : new Problem('UNAVAILABLE', { cause: error }));
  }
}

const NEWLINE = 10;

/** What came is cut into lines before it is decoded: most answers are few whole lines in one piece. */
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
