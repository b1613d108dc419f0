const DAY_MS = 86_400_000;

/** When the next UTC day begins, ISO 8601: daily credit and daily limits begin anew then. */
export function nextEpochBegins(): string {
  return new Date((Math.floor(Date.now() / DAY_MS) + 1) * DAY_MS).toISOString();
}
