import {
  type Admission,
  AdmissionReply,
  type AdmitRequest,
  type FailureBlock,
  FailureBlockReply,
  LimitsState,
  routes,
} from '@svc/contracts';
import { Pool } from 'undici';
import { SharedLimiter, type UnderWay } from '../counting/leasing-limiter.js';

/** Requests at once to the limiter; an answer takes a millisecond, so few are enough. */
const CONNECTIONS = 64;

const CONNECT_MS = 1_000;

const GIVE_UP_MS = 2_000;

/** Below the time after which the limiter closes an idle connection. */
const KEEP_ALIVE_MS = 60_000;

/** An answer is some hundred bytes. */
const ANSWER_BYTES = 65_536;

export interface LimiterAddress {
  /** Where the limiter listens, without a path. */
  readonly url: string;
  /** The secret that the processes of a deployment share. */
  readonly token: string;
  /** A call that has no answer after this time is given up, long after its caller did. Default: 2 s. */
  readonly giveUpMs?: number;
}

/** The limiter of another process. */
export class HttpLimiter extends SharedLimiter {
  private readonly pool: Pool;
  private readonly headers: Readonly<Record<string, string>>;
  private readonly giveUpMs: number;

  constructor({ url, token, giveUpMs = GIVE_UP_MS }: LimiterAddress) {
    super();
    this.giveUpMs = giveUpMs;
    this.pool = new Pool(url, {
      connections: CONNECTIONS,
      pipelining: 1,
      connect: { timeout: CONNECT_MS },
      keepAliveTimeout: KEEP_ALIVE_MS,
      maxResponseSize: ANSWER_BYTES,
    });
    this.headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  }

  override async admit(request: AdmitRequest): Promise<Admission> {
    return AdmissionReply.parse(await this.post(routes.admitToLimits, request));
  }

  override async settle(request: AdmitRequest, admission: Admission, tokensUsed: number): Promise<void> {
    await this.post(routes.settleLimits, { request, admission, tokensUsed });
  }

  override async release(request: AdmitRequest, admission: Admission): Promise<void> {
    await this.post(routes.releaseLimits, { request, admission });
  }

  override async renew(live: readonly UnderWay[]): Promise<void> {
    await this.post(routes.renewLimits, { live });
  }

  override async blocked(subject: string): Promise<FailureBlock> {
    return FailureBlockReply.parse(await this.post(routes.failureBlock, { subject }));
  }

  override async failed(subject: string): Promise<FailureBlock> {
    return FailureBlockReply.parse(await this.post(routes.countFailure, { subject }));
  }

  /** What the other process says of itself. */
  async state(): Promise<LimitsState> {
    return LimitsState.parse(await this.ask({ method: 'GET', path: routes.limitsState.path }));
  }

  override async probe(): Promise<void> {
    await this.state();
  }

  override close(): Promise<void> {
    return this.pool.destroy();
  }

  private post({ path }: { path: string }, body: unknown): Promise<unknown> {
    return this.ask({ method: 'POST', path, body: JSON.stringify(body) });
  }

  private async ask(call: HttpCall): Promise<unknown> {
    const signal = AbortSignal.timeout(this.giveUpMs);
    const first = await this.send(call, signal);
    // A process that stops closes its connections and has done nothing: another one may serve.
    const { status, text } = first.status === 503 ? await this.send(call, signal) : first;
    if (status !== 200) throw new Error(`the limiter answered ${status}: ${text.slice(0, 200)}`);
    return JSON.parse(text);
  }

  private async send(call: HttpCall, signal: AbortSignal): Promise<{ status: number; text: string }> {
    const { statusCode, body } = await this.pool.request({ ...call, headers: this.headers, signal });
    return { status: statusCode, text: await body.text() };
  }
}

interface HttpCall {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
}
