import {
  type Admission,
  type AdmitRequest,
  type Amounts,
  type FailureBlock,
  type Limits,
  type LimitsPeek,
  type RemotePort,
  LIMITS_WIRE,
  LimitsState,
  type TakenLimits,
  type UnderWay,
} from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import { routes } from '@svc/api';
import { InternalClient, PortClient } from '@svc/runtime';
import { SharedLimiter } from '../counting/shared-limiter.js';

const GIVE_UP_MS = 5_000;

export interface LimiterAddress {
  /** The URL of the limiter, without a path; separate several replicas by commas. */
  readonly url: string;
  /** The secret shared by the processes of a deployment. */
  readonly token: string;
  /** A call without a response is aborted after this time, long after its caller timed out. Default: 5 s. */
  readonly giveUpMs?: number;
}

/** Client of the limiter in another process. Concurrent calls share requests. */
export class HttpLimiter extends SharedLimiter {
  private readonly client: InternalClient;
  private readonly limits: RemotePort<Limits>;
  private readonly giveUpMs: number;

  constructor({ url, token, giveUpMs = GIVE_UP_MS }: LimiterAddress) {
    super();
    this.giveUpMs = giveUpMs;
    this.client = new InternalClient({ url, token });
    this.limits = new PortClient<Limits>(this.client, LIMITS_WIRE, {
      path: routes.callLimits.path,
      deadlineMs: giveUpMs,
      once: ['admit', 'failed'],
      patient: ['settle'],
    }).port;
  }

  override admit(request: AdmitRequest): Promise<Admission> {
    return this.limits.admit(request);
  }

  override settle(request: AdmitRequest, admission: Admission, used: Amounts): Promise<void> {
    return this.limits.settle(request, admission, used);
  }

  override release(request: AdmitRequest, admission: Admission): Promise<void> {
    return this.limits.release(request, admission);
  }

  override async peek(peek: LimitsPeek): Promise<TakenLimits> {
    try {
      return await this.limits.peek(peek);
    } catch (error) {
      // A limiter of the previous version has no such method; that is no reason to count locally.
      if (error instanceof Problem && error.code === 'INVALID_REQUEST') return {};
      throw error;
    }
  }

  override renew(live: readonly UnderWay[]): Promise<void> {
    return this.limits.renew(live);
  }

  override blocked(subject: string): Promise<FailureBlock> {
    return this.limits.blocked(subject);
  }

  override failed(subject: string): Promise<FailureBlock> {
    return this.limits.failed(subject);
  }

  /** The state reported by the other process. */
  async state(): Promise<LimitsState> {
    const { path, method } = routes.limitsState;
    const call = { path, method, idempotent: true, deadlineMs: this.giveUpMs };
    const { status, text } = await this.client.ask(call);
    if (status !== 200) throw new Error(`the limiter responded with ${status}: ${text.slice(0, 200)}`);
    return LimitsState.parse(JSON.parse(text));
  }

  override async probe(): Promise<void> {
    await this.state();
  }

  override close(): Promise<void> {
    return this.client.close();
  }
}
