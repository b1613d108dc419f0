/** Something took longer than it may. */
export class DeadlineExceeded extends Error {
  override readonly name = 'DeadlineExceeded';

  constructor(deadlineMs: number) {
    super(`no answer in ${Math.round(deadlineMs)} ms`);
  }
}

/**
 * The result of `work`, or a rejection with what `late` makes once it takes longer; default: DeadlineExceeded. The
 * work goes on, and nobody hears of its end any more.
 */
export async function within<Result>(
  deadlineMs: number,
  work: PromiseLike<Result>,
  late: () => Error = () => new DeadlineExceeded(deadlineMs),
): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>();
  // A busy process sees its timers before its sockets: what has arrived in time is read first.
  const timer = setTimeout(() => setImmediate(() => reject(late())), deadlineMs);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
