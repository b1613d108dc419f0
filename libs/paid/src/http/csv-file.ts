import type { FastifyReply } from 'fastify';
import Negotiator from 'negotiator';

const ON_OFFER = ['application/json', 'text/csv', 'text/csv;charset=utf-8'];

/** Whether an `Accept` header prefers CSV to JSON (RFC 9110 §12.5.1). */
export function prefersCsv(accept: string | undefined): boolean {
  if (accept === undefined) return false;
  const preferred = new Negotiator({ headers: { accept: accept.toLowerCase() } }).mediaType(ON_OFFER);
  return preferred?.startsWith('text/csv') ?? false;
}

/**
 * Makes the reply a CSV file of this name if the client prefers that. Returns whether it does. Call it once,
 * for every reply of a route that offers both.
 */
export function isCsvFile(reply: FastifyReply, name: string): boolean {
  void reply.header('vary', 'accept');
  if (!prefersCsv(reply.request.headers.accept)) return false;
  void reply.headers({
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename=${name}`,
  });
  return true;
}
