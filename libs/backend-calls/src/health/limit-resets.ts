import type { ResponseHeaders } from '@svc/runtime';

/** The headers of a limit: what is left of it, and when it is full again. */
interface LimitHeaders {
  readonly left: string;
  readonly reset: string;
}

/** Anthropic's limits, those of OpenAI, Groq and others, and that of OpenRouter. */
const LIMITS: readonly LimitHeaders[] = [
  ...['requests', 'tokens', 'input-tokens', 'output-tokens'].map((name) => ({
    left: `anthropic-ratelimit-${name}-remaining`,
    reset: `anthropic-ratelimit-${name}-reset`,
  })),
  ...['-requests', '-tokens', ''].map((name) => ({
    left: `x-ratelimit-remaining${name}`,
    reset: `x-ratelimit-reset${name}`,
  })),
];

/** Such as `1h2m`, `6m0s`, `59.7s` and `120ms`. */
const DURATION =
  /^(?:(?<h>\d{1,6})h)?(?:(?<m>\d{1,6})m)?(?:(?<s>\d{1,9}(?:\.\d{1,9})?)s)?(?:(?<ms>\d{1,9})ms)?$/;

/** Seconds from here on are a time since 1970, and from the second on in milliseconds. */
const TIME_SECONDS = 1e9;
const TIME_MS = 1e12;

/** The longest wait, as for `Retry-After`. */
const LIMIT_SECONDS = 3_600;

/**
 * The seconds until the limits of a provider of which nothing is left are full again, by the headers of its
 * response; undefined if it names none.
 */
export function resetOf(headers: ResponseHeaders, nowMs = Date.now()): number | undefined {
  const waits = LIMITS.flatMap(({ left, reset }) => {
    const [amount, text] = [headers[left], headers[reset]];
    if (typeof amount !== 'string' || typeof text !== 'string' || numberIn(amount) !== 0) return [];
    const seconds = secondsIn(text.trim(), nowMs);
    return seconds >= 0 ? [seconds] : [];
  });
  return waits.length === 0 ? undefined : Math.min(Math.ceil(Math.max(...waits)), LIMIT_SECONDS);
}

const numberIn = (text: string): number => (text.trim() === '' ? NaN : Number(text));

/** A duration, a number of seconds, or a time. */
function secondsIn(text: string, nowMs: number): number {
  const { h = '0', m = '0', s = '0', ms = '0' } = (text !== '' && DURATION.exec(text)?.groups) || {};
  const duration = Number(h) * 3_600 + Number(m) * 60 + Number(s) + Number(ms) / 1_000;
  if (duration > 0 || text === '0s') return duration;
  const value = numberIn(text);
  if (Number.isNaN(value)) return (Date.parse(text) - nowMs) / 1_000;
  if (value >= TIME_MS) return (value - nowMs) / 1_000;
  return value >= TIME_SECONDS ? value - nowMs / 1_000 : value;
}
