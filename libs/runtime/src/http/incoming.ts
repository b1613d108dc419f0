import type { ServerResponse } from 'node:http';
import type { FastifyRequest } from 'fastify';

/** What only Fastify's own requests have. */
type OfFastify =
  | 'body'
  | 'compileValidationSchema'
  | 'getDecorator'
  | 'getValidationFunction'
  | 'hostname'
  | 'ips'
  | 'is404'
  | 'log'
  | 'mediaType'
  | 'originalUrl'
  | 'params'
  | 'port'
  | 'query'
  | 'req'
  | 'routeOptions'
  | 'server'
  | 'setDecorator'
  | 'signal'
  | 'validateInput'
  | 'validationError';

/**
 * A request, as the stages of every request see it: one that Fastify routed, or one of a direct route. It
 * has the members that libraries add to a request, too.
 */
export interface Incoming extends Omit<FastifyRequest, OfFastify> {
  params: unknown;
  query: unknown;
  body: unknown;
}

/** Its response, in the same sense. Names of headers are in any case; values replace earlier ones. */
export interface Outgoing {
  readonly raw: ServerResponse;
  readonly request: Incoming;
  readonly statusCode: number;
  /** Whether it has ended, or is written by a part that has taken it over. */
  readonly sent: boolean;
  header(name: string, value: string | number): Outgoing;
  headers(values: Readonly<Record<string, string | number>>): Outgoing;
  getHeader(name: string): number | string | string[] | undefined;
  getHeaders(): Readonly<Record<string, unknown>>;
  hasHeader(name: string): boolean;
  removeHeader(name: string): Outgoing;
  status(code: number): Outgoing;
  /** Sends the whole response, after the steps that precede each. */
  send(payload?: string | Uint8Array): unknown;
  /** Leaves the response to the caller, who writes it to `raw`. */
  hijack(): Outgoing;
}

/** Continues with the next stage, or with the problem of this one. */
export type Next = (error?: Error) => void;
