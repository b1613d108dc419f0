import { setTimeout as sleep } from 'node:timers/promises';
import type { Chunk, Cost, ApiErrorBody } from '../response-bodies.js';
import { INSPECTED, residentBytes, TELLS_MEMORY } from '../memory.js';
import { type Payer, openPayer, payerFaults } from '../payers.js';
import { ABLE_MODEL, Platform, type PlatformOptions } from '../platform.js';
import { ServiceProbe } from '../probe.js';
import { nanoCost } from '../reconciliation.js';
import { HostileBackend } from './hostile-backend.js';

/** The model of the hostile backend. */
const MODEL = ABLE_MODEL.id;

/** More than any response of these tests takes on any machine. */
const DEADLINE_MS = 120_000;
/** The memory that requests may leave after all of them have ended. */
const LEFT_BYTES = 64 * 1024 * 1024;
/** Time limit for the service to clean up after clients and backends. */
const SETTLED_MS = 60_000;

export interface HarnessOptions extends PlatformOptions {
  /** The initial balance of the account. */
  readonly creditUsd?: string;
  /** Non-default members of the model. */
  readonly model?: object;
}

/** The client's result, complete or not. */
export interface Outcome {
  readonly status: number;
  readonly requestId: string;
  readonly headers: Headers;
  readonly text: string;
  /** Whether the connection ended before the response did. */
  readonly cut: boolean;
  /** The cost in the response; only if it was received completely. */
  readonly cost?: Cost;
  readonly error?: ApiErrorBody;
}

/**
 * The platform with a misbehaving backend, an account that records all costs, and measurements of the
 * service.
 */
export class HostileHarness {
  private readonly payers: Payer[] = [];
  private heldBytes = 0;
  private residentBytes = 0;

  private constructor(
    readonly platform: Platform,
    readonly backend: HostileBackend,
    readonly probe: ServiceProbe,
  ) {}

  static async start({
    creditUsd = '1000.00',
    model = {},
    ...options
  }: HarnessOptions = {}): Promise<HostileHarness> {
    const backend = await HostileBackend.start();
    const backends = [{ url: backend.url, model: MODEL, maxInFlight: 1_000 }];
    const platform = await Platform.start({
      ...options,
      models: [{ ...ABLE_MODEL, backends, ...model }, ...(options.models ?? [])],
      env: {
        SVC_LOG_LEVEL: 'error',
        ...options.env,
        ...INSPECTED,
      },
    });
    const harness = new HostileHarness(
      platform,
      backend,
      await ServiceProbe.connect(platform.service.output),
    );
    await harness.open(creditUsd);
    await harness.rememberMemory();
    return harness;
  }

  /** The first key of the first account. */
  get apiKey(): string {
    const [payer] = this.payers;
    if (!payer) throw new Error('there is no account');
    return payer.apiKeys[0];
  }

  /** Opens an account whose books are also checked at the end, and returns its key. */
  async open(creditUsd: string): Promise<string> {
    const payer = await openPayer(this.platform, { creditUsd, stakes: false, keys: 1 });
    await payer.reconciliation.askAgain();
    this.payers.push(payer);
    return payer.apiKeys[0];
  }

  /** Requests a completion, and records its cost. A body without a model uses the hostile one. */
  async ask(body: object | string, { apiKey = this.apiKey, ...init }: AskOptions = {}): Promise<Outcome> {
    const payer = this.payers.find(({ apiKeys }) => apiKeys.includes(apiKey));
    if (!payer) throw new Error('no account has this key');
    payer.reconciliation.sent += 1;
    const answer = await readOutcome(
      await this.platform.chat(apiKey, typeof body === 'string' ? body : { model: MODEL, ...body }, {
        signal: AbortSignal.timeout(DEADLINE_MS),
        ...init,
      }),
    );
    const { reconciliation } = payer;
    if (answer.status !== 200) reconciliation.refused.add(answer.requestId);
    else if (answer.cost) reconciliation.ended.set(answer.requestId, nanoCost(answer.cost));
    return answer;
  }

  /** Requests a completion of one message. */
  say(content: unknown, rest: object = {}, options: AskOptions = {}): Promise<Outcome> {
    return this.ask({ messages: [{ role: 'user', content }], ...rest }, options);
  }

  /**
   * Everything that was not restored: the service has exited, the books are wrong, money is held, the cost of
   * a response is not in the ledger, or memory has grown. Must be empty once all requests have ended.
   */
  async afterwards(): Promise<string[]> {
    const deadline = Date.now() + SETTLED_MS;
    for (;;) {
      const faults = await this.faults();
      if (faults.length === 0 || Date.now() > deadline) return faults;
      await sleep(500);
    }
  }

  async stop(): Promise<void> {
    this.probe.close();
    await this.platform.stop();
    await this.backend.close();
  }

  private async faults(): Promise<string[]> {
    const { exitCode } = this.platform.service;
    if (exitCode !== null)
      return [`the service has ended with ${exitCode}: ${this.platform.service.output.slice(-2_000)}`];
    const faults: string[] = [];
    for (const payer of this.payers) faults.push(...(await payerFaults(this.platform, payer)));
    const audit = await this.platform.audit();
    if (audit.body['ok'] !== true) faults.push(`the audit finds ${JSON.stringify(audit.body)}`);
    const left = (await this.probe.heldBytes()) - this.heldBytes;
    if (left > LEFT_BYTES) faults.push(`${left} bytes more are held than before`);
    return faults;
  }

  /** The memory after the service has done some of every kind of work. */
  private async rememberMemory(): Promise<void> {
    for (let count = 0; count < 20; count += 1) await this.say('hi', { stream: count % 2 === 0 });
    this.heldBytes = await this.probe.heldBytes();
    if (TELLS_MEMORY) this.residentBytes = residentBytes(this.platform.service.pid);
  }

  /** The resident memory that the service has gained since its start. 0 if the system does not report it. */
  get grownBytes(): number {
    return TELLS_MEMORY ? residentBytes(this.platform.service.pid) - this.residentBytes : 0;
  }
}

export interface AskOptions extends RequestInit {
  readonly apiKey?: string;
}

async function readOutcome(response: Response): Promise<Outcome> {
  let text = '';
  let cut = false;
  try {
    for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) text += part;
  } catch {
    cut = true;
  }
  const { status, headers } = response;
  const answer = { status, requestId: headers.get('x-request-id') ?? '', headers, text, cut };
  if (cut) return answer;
  if (status !== 200) return { ...answer, error: JSON.parse(text) as ApiErrorBody };
  const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true;
  const cost = isStream ? costOfStream(text) : (JSON.parse(text) as { cost?: Cost }).cost;
  return { ...answer, ...(cost && { cost }) };
}

/** The cost in the events of a stream; a stream that ends in an error reports it before the error. */
function costOfStream(text: string): Cost | undefined {
  const events = text.split('\n\n').filter((event) => event.startsWith('data: {'));
  const chunks = events.map((event) => JSON.parse(event.slice('data: '.length)) as Chunk);
  return chunks.findLast(({ cost }) => cost !== undefined)?.cost;
}
