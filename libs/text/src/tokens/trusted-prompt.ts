/** A backend's count may be this many tokens below the lower bound. */
export const SLACK_TOKENS = 64;

/** Bounds for a backend's count of a prompt. */
export interface PromptBounds {
  /** Our estimate. */
  readonly tokens: number;
  readonly tokensAtMost: number;
  readonly tokensAtLeast: () => number;
}

/** A backend's count of a prompt, as far as it is plausible. */
export interface TrustedPrompt {
  /**
   * The count, raised to the lower bound if it is too low. Undefined if the backend has no plausible count.
   */
  readonly tokens: number | undefined;
  readonly doubt: 'prompt too high' | 'prompt too low' | undefined;
}

/**
 * Zero means that the backend does not count. The prompt is read only for counts below half of the estimate.
 */
export function trustedPrompt(reported: number, prompt: PromptBounds): TrustedPrompt {
  if (reported > prompt.tokensAtMost) return { tokens: undefined, doubt: 'prompt too high' };
  if (reported === 0) return { tokens: undefined, doubt: undefined };
  const least = reported * 2 < prompt.tokens ? prompt.tokensAtLeast() : 0;
  return least > reported + SLACK_TOKENS
    ? { tokens: least, doubt: 'prompt too low' }
    : { tokens: reported, doubt: undefined };
}
