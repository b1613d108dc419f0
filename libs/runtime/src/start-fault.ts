/** Why a process can't start, in words for a person at a terminal; printed without a stack. */
export class StartFault extends Error {
  override readonly name: string = 'StartFault';
}

/** Messages by system error code, for a path that can't be read or written. */
const PLACES: Readonly<Record<string, string>> = {
  EACCES: 'No permission for',
  EPERM: 'No permission for',
  EROFS: 'Nothing can be written, since the file system is read-only, to',
  ENOSPC: 'No space is left for',
  EDQUOT: 'No space is left for',
  ENOTDIR: 'Not a folder, or part of its path is not a folder:',
  EEXIST: 'Not a folder:',
  ENOENT: 'No such file or folder:',
};

/** Errors of deadlines, whose messages do not say that time was short. */
const LATE = new Set(['AbortError', 'TimeoutError', 'DeadlineExceeded']);

/** A start-up error as lines for a person at a terminal. An unexpected error keeps its stack. */
export function startFaultText(error: unknown): string {
  if (error instanceof StartFault) return error.message;
  if (!(error instanceof Error)) return String(error);
  const { code, port, path } = error as NodeJS.ErrnoException & { port?: number };
  if (code === 'EADDRINUSE') return `Port ${String(port)} is taken. Choose another.`;
  if (code === 'EADDRNOTAVAIL') return `${error.message}. Is the host an address of this machine?`;
  const place = PLACES[code ?? ''];
  if (place !== undefined && path !== undefined) return `${place} ${path}`;
  const text = error.stack ?? error.message;
  return LATE.has(error.name) ? `The start took too long. Is this machine overloaded?\n${text}` : text;
}
