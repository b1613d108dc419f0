import type { z } from 'zod';
import type { routes } from '@svc/api';

type Route = (typeof routes)[keyof typeof routes];

export type RouteMethod = Route['method'];
export type PathOf<M extends RouteMethod> = Extract<Route, { method: M }>['path'];
type RouteAt<M extends RouteMethod, P extends string> = Extract<Route, { method: M; path: P }>;

type Parsed<T> = T extends z.ZodType ? z.output<T> : never;
type Sent<T> = T extends z.ZodType ? z.input<T> : never;

/** The body of a successful response. */
export type ReplyAt<M extends RouteMethod, P extends string> = Parsed<RouteAt<M, P>['reply']>;

/** The data of an event of a streamed response. */
export type EventAt<M extends RouteMethod, P extends string> =
  RouteAt<M, P> extends { event: infer E } ? Parsed<E> : never;

type QueryAt<M extends RouteMethod, P extends string> =
  RouteAt<M, P> extends { query: infer Q } ? { [K in keyof Sent<Q>]?: Sent<Q>[K] | undefined } : never;
type BodyAt<M extends RouteMethod, P extends string> =
  RouteAt<M, P> extends { body: infer B } ? Sent<B> : never;

/** What a request to a route may have. */
export interface CallInput<M extends RouteMethod, P extends string> {
  readonly query?: QueryAt<M, P>;
  readonly body?: BodyAt<M, P>;
  /** The values of the `:name` parts of the path. */
  readonly params?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}
