import { Problem } from '@svc/contracts';

/** The result of `work`, or UNAVAILABLE when it takes longer. The work goes on. */
export async function within<Result>(deadlineMs: number, work: Promise<Result>): Promise<Result> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Problem('UNAVAILABLE')), deadlineMs);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
