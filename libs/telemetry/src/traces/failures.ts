import { Problem } from '@svc/contracts';

/** What went wrong, as a span and a metric may say it: a code, and never a message, which may quote what a client sent. */
export function errorType(error: unknown): string {
  if (error instanceof Problem) return error.code;
  if (!(error instanceof Error)) return '_OTHER';
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,40}$/.test(code) ? code : error.name;
}

/** Whether it is ours, or a neighbour's: neither what a client is refused for nor that it went away. */
export function isFailure(error: unknown): boolean {
  if (error instanceof Problem) return error.status >= 500;
  return !(error instanceof Error && /abort/i.test(error.name));
}
