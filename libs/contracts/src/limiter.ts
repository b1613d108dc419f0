export interface AdmitRequest {
  readonly requestId: string;
  readonly accountId: string;
  readonly model: string;
  readonly limits: { readonly requestsPerMinute: number; readonly tokensPerMinute: number };
  /** Prompt plus completion, estimated. Corrected by `settle`. */
  readonly tokens: number;
}

/** A window's state just after a request was admitted or refused. */
export interface LimitState {
  readonly limit: number;
  readonly remaining: number;
}

export interface Admission {
  readonly admitted: boolean;
  readonly requests: LimitState;
  readonly tokens: LimitState;
  /** When both windows end, in Unix milliseconds. */
  readonly resetAtMs: number;
  /** Whose limit is nearest to being reached. */
  readonly type: 'user' | 'api_key' | 'global';
}

/** Counts requests and tokens in fixed one-minute windows, for each account and model. */
export abstract class Limiter {
  /** Takes a request from all of its windows or from none, in one step. */
  abstract admit(request: AdmitRequest): Promise<Admission>;

  /** Corrects the estimate of an admitted request to what was really used. */
  abstract settle(request: AdmitRequest, admission: Admission, tokensUsed: number): Promise<void>;

  /** Gives an admitted request back as if it had not been, because something else refused it. */
  abstract release(request: AdmitRequest, admission: Admission): Promise<void>;
}
