import { setTimeout as sleep } from 'node:timers/promises';

/** Waits for the next minute if the current one is about to end, so that a test lies within one window. */
export async function withinOneMinute(): Promise<void> {
  const leftMs = 60_000 - (Date.now() % 60_000);
  if (leftMs < 15_000) await sleep(leftMs + 50);
}

/** Repeats the requests if a new minute started in between. */
export async function untilOneWindow(send: () => Promise<Response[]>): Promise<Response[]> {
  for (;;) {
    const responses = await send();
    const resets = new Set(responses.map(({ headers }) => headers.get('x-ratelimit-reset-requests')));
    if (resets.size === 1) return responses;
  }
}

/** Waits for the next hour if the current one is about to end, so that a test lies within it. */
export async function withinOneHour(): Promise<void> {
  const leftMs = 3_600_000 - (Date.now() % 3_600_000);
  if (leftMs < 60_000) await sleep(leftMs + 50);
}
