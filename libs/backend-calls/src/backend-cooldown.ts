/**
 * Whose requests call a backend last after its failure. A failure that the request may have caused, such as
 * an error 500, concerns its account alone: servers such as llama-cpp-python send one for a request that they
 * can't parse.
 */
export type CooldownScope = 'nobody' | 'account' | 'everyone';

/** Backends that failed lately are called last for a while. */
export class BackendCooldown {
  private untilMs = 0;
  private latestReason = '';
  /** The latest account whose request failed since the backend last succeeded. */
  private failed: { readonly accountId: string; readonly untilMs: number } | undefined;

  /** The rest of a cooldown for everyone, and the failure that began it. Undefined without one. */
  get current(): { readonly restMs: number; readonly reason: string } | undefined {
    const restMs = this.untilMs - performance.now();
    return restMs > 0 ? { restMs, reason: this.latestReason } : undefined;
  }

  /**
   * Starts a cooldown after a failed call. Returns whether it is for everyone, as it is after failures of two
   * accounts in a row.
   */
  begin(
    { cooldown: scope, reason }: { readonly cooldown: CooldownScope; readonly reason: string },
    accountId: string,
    cooldownMs: number,
  ): boolean {
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
    this.latestReason = reason;
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
