/**
 * For whom a backend rests after a failure. One that may be the fault of the request, such as an error 500, concerns its
 * account alone: servers such as llama-cpp-python respond so to a request that they can't read.
 */
export type RestScope = 'nobody' | 'account' | 'everyone';

/** Who should call a backend last for a while, because it failed lately. */
export class BackendRest {
  private untilMs = 0;
  /** The latest account whose request failed, while the backend has answered none since. */
  private failed: { readonly accountId: string; readonly untilMs: number } | undefined;

  /** Begins a rest after a failed call, and returns whether it is one for everyone: so is that of two accounts in a row. */
  begin(scope: RestScope, accountId: string, restMs: number): boolean {
    const nowMs = performance.now();
    const untilMs = nowMs + restMs;
    const { failed } = this;
    if (scope === 'nobody') return false;
    if (scope === 'account') {
      this.failed = { accountId, untilMs };
      const isFirst = failed === undefined || failed.accountId === accountId || failed.untilMs <= nowMs;
      if (isFirst) return false;
    }
    this.untilMs = untilMs;
    return true;
  }

  /** The backend has answered a request, so it is not broken. */
  answered(): void {
    this.failed = undefined;
  }

  /** Whether it rests for an account, or without one for everyone. */
  isOn(accountId?: string): boolean {
    const nowMs = performance.now();
    const { failed } = this;
    if (nowMs < this.untilMs) return true;
    return failed !== undefined && failed.accountId === accountId && nowMs < failed.untilMs;
  }
}
