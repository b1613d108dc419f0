/** An operation exceeded its deadline. */
export class DeadlineExceeded extends Error {
  override readonly name = 'DeadlineExceeded';

  constructor(deadlineMs: number) {
    super(`no response in ${Math.round(deadlineMs)} ms`);
  }
}

/**
 * The result of `work`, or a rejection with `late()` after the deadline; default: DeadlineExceeded. The work
 * continues, and its result is ignored.
 */
export async function within<Result>(
  deadlineMs: number,
  work: PromiseLike<Result>,
  late: () => Error = () => new DeadlineExceeded(deadlineMs),
): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>();
  // A blocked process handles timers before sockets, so results that arrived in time are read first.
  const timer = setTimeout(() => setImmediate(() => reject(late())), deadlineMs);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
