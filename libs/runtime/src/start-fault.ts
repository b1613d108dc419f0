/** Why a process can't start, in words for a person at a terminal: no stack is shown beside them. */
export class StartFault extends Error {
  override readonly name: string = 'StartFault';
}

/** What the system says of a place where something can't be written or read. */
const PLACES: Readonly<Record<string, string>> = {
  EACCES: 'No permission for',
  EPERM: 'No permission for',
  EROFS: 'Nothing can be written, since the file system is read-only, to',
  ENOSPC: 'No space is left for',
  EDQUOT: 'No space is left for',
  ENOTDIR: 'This is no folder, or lies in something that is none:',
  EEXIST: 'This is no folder:',
  ENOENT: 'There is no such file or folder:',
};

/** A fault of the start as lines for a person at a terminal. One that nobody foresaw keeps its stack. */
export function tellStartFault(error: unknown): string {
  if (error instanceof StartFault) return error.message;
  if (!(error instanceof Error)) return String(error);
  const { code, port, path } = error as NodeJS.ErrnoException & { port?: number };
  if (code === 'EADDRINUSE') return `Port ${String(port)} is taken. Choose another.`;
  if (code === 'EADDRNOTAVAIL') return `${error.message}. Is the host an address of this machine?`;
  const place = PLACES[code ?? ''];
  if (place !== undefined && path !== undefined) return `${place} ${path}`;
  return error.stack ?? error.message;
}
