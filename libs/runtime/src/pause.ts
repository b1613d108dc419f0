/** Waits this long, but only until `until` resolves or the signal is aborted. */
export async function pause(waitMs: number, stop: AbortSignal, until?: Promise<void>): Promise<void> {
  if (waitMs === 0 || stop.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = (): void => resolve();
  const timer = setTimeout(end, waitMs);
  stop.addEventListener('abort', end, { once: true });
  void until?.then(end);
  await promise;
  clearTimeout(timer);
  stop.removeEventListener('abort', end);
}
