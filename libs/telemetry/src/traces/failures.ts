import { Problem } from '@svc/contracts/problems';

/** The type of an error for spans and metrics: a code, never a message, which may quote a client's text. */
export function errorType(error: unknown): string {
  if (error instanceof Problem) return error.code;
  if (!(error instanceof Error)) return '_OTHER';
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,40}$/.test(code) ? code : error.name;
}

/** Whether an error is ours or a neighbour's: neither a client's fault nor a disconnect. */
export function isFailure(error: unknown): boolean {
  if (error instanceof Problem) return error.status >= 500;
  return !(error instanceof Error && /abort/i.test(error.name));
}
