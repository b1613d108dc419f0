import type { Admission, AdmitRequest, Limiter } from '@svc/contracts/ports';

/** Admits one request after the other. */
export async function inTurn(limiter: Limiter, requests: readonly AdmitRequest[]): Promise<Admission[]> {
  const admissions: Admission[] = [];
  for (const request of requests) admissions.push(await limiter.admit(request));
  return admissions;
}

/** Retries, with new accounts, if a window ended in between. */
export async function inOneWindow(scenario: () => Promise<Admission[]>): Promise<Admission[]> {
  for (;;) {
    const admissions = await scenario();
    if (new Set(admissions.map(endOf)).size === 1) return admissions;
  }
}

/** The end of a request's first window. */
export const endOf = ({ endsAtMs }: Admission): number => endsAtMs[0] ?? 0;

/** The scope of the limit that refused a request, or `concurrent` or `failures`. */
export const scopeOfRefusal = ({ refusedBy }: Admission): string | undefined =>
  refusedBy?.of === 'limit' ? refusedBy.limit.scope : refusedBy?.of;
