/**
 * Whose requests call a backend last after its failure. A failure that the request may have caused, such as
 * an error 500, concerns its account alone: servers such as llama-cpp-python send one for a request that they
 * can't parse.
 */
export type CooldownScope = 'nobody' | 'account' | 'everyone';

/** Backends that failed lately are called last for a while. */
export class BackendCooldown {
  private untilMs = 0;
  /** The latest account whose request failed since the backend last succeeded. */
  private failed: { readonly accountId: string; readonly untilMs: number } | undefined;

  /**
   * Starts a cooldown after a failed call. Returns whether it is for everyone, as it is after failures of two
   * accounts in a row.
   */
  begin(scope: CooldownScope, accountId: string, cooldownMs: number): boolean {
    const nowMs = performance.now();
    const untilMs = nowMs + cooldownMs;
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

  /** The backend has completed a request, so it works. */
  succeeded(): void {
    this.failed = undefined;
  }

  /** Whether it is on for an account or, without one, for everyone. */
  isOn(accountId?: string): boolean {
    const nowMs = performance.now();
    const { failed } = this;
    if (nowMs < this.untilMs) return true;
    return failed !== undefined && failed.accountId === accountId && nowMs < failed.untilMs;
  }
}
