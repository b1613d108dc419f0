import { Problem } from '@svc/contracts/problems';
import type { RouteDefinition } from '@svc/api/route';
import type { Socket } from 'node:net';
import { STOPPING_HEADER } from '../calls/internal-client.js';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify';
import type { Logger } from '../logging/logging.js';
import { VERSION } from '../version.js';
import { type AccessControl, isForClients } from './access.js';
import type { Bodies } from './bodies.js';
import type { CrossOrigin } from './cross-origin.js';
import { methodsOf, notFound } from './known-paths.js';
import { headerFault } from './malformed.js';
import { OpenRequests, endUnread } from './open-requests.js';
import { nameRequest, newId } from './request-id.js';
import { requestEnded, requestStarted } from './request-metrics.js';
import { type RequestRecord, requestLine } from './request-record.js';
import { endTrace, enterTraced, continueTraced } from './request-trace.js';
import { sendProblem } from './send-problem.js';
import { validateRequest } from './validation.js';

export interface HttpOptions {
  readonly logger: Logger;
  readonly access: AccessControl;
  readonly bodies: Bodies;
  readonly crossOrigin: CrossOrigin;
  /** Whether a request came in on the operator's port. */
  readonly isOperatorPort: (port: number | undefined) => boolean;
  /** Comma-separated addresses of proxies whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: string | undefined;
  /**
   * Whether the process is stopping: connections end with their next response, and other processes are sent
   * elsewhere.
   */
  readonly isStopping: () => boolean;
  /** Whether a connection was opened after the process stopped taking work. */
  readonly isLate: (socket: Socket) => boolean;
}

/** What holds for every HTTP server of a process, whatever port it listens on. */
export const SERVER_OPTIONS = {
  // Time to receive a whole request, beyond the deadline of its body. Responses have no such limit.
  requestTimeout: 300_000,
  headersTimeout: 20_000,
  // Longer than load balancers keep an idle connection (60 s), so that none is closed while a request is on
  // its way.
  keepAliveTimeout: 75_000,
  // A request without a host is refused by us, in the envelope of all refusals.
  requireHostHeader: false,
} as const;

/** Its ports are not its own, and a closed Fastify would refuse the probes of a process that ends. */
class OpenAdapter extends FastifyAdapter {
  override close(): Promise<undefined> {
    return Promise.resolve(undefined);
  }
}

/** Fastify under Nest, with what every request of every process goes through. */
export function createHttpAdapter(options: HttpOptions): FastifyAdapter {
  const adapter = new OpenAdapter({
    logger: false,
    genReqId: newId,
    requestIdHeader: false,
    trustProxy: options.trustedProxies === undefined ? false : options.trustedProxies.split(','),
    // A route's schema limits the length of names; the size of headers limits a URL as a whole.
    // Some clients put a slash between a base URL that ends with one and a path, or behind the path.
    routerOptions: { maxParamLength: 4_000, ignoreTrailingSlash: true, ignoreDuplicateSlashes: true },
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) => {
      begin(request, reply);
      sendProblem(new Problem('MALFORMED_REQUEST', { cause: error }), request, reply);
      options.logger.info(requestLine(request, reply.raw.statusCode), 'request');
    },
  });
  const fastify: FastifyInstance = adapter.getInstance();
  fastify.decorateRequest('operatorSide', false);
  fastify.decorateRequest('matchedRoute', undefined);
  fastify.decorateRequest('traced', undefined);
  // The first hook sets a new record for every request.
  fastify.decorateRequest('record', null as unknown as RequestRecord);
  addHooks(fastify, options);
  options.bodies.addTo(fastify);
  return adapter;
}

function addHooks(fastify: FastifyInstance, options: HttpOptions): void {
  const { access, crossOrigin, logger } = options;
  const open = new OpenRequests((reply) => void leave(reply, logger));
  fastify.addHook('onRoute', access.onRoute);
  // Access is checked before a body is read: reading a body costs more than rejecting its sender.
  fastify.addHook('onRequest', (request, reply, next) => {
    const route = begin(request, reply);
    requestStarted();
    open.begin(reply);
    // A neighbour may read as slowly as the client that it serves.
    if (route?.access !== 'internal') endUnread(reply.raw);
    if (options.isStopping() && !staysOn(reply, options)) {
      // Without a response, a balancer sends what it may repeat to another process.
      if (route?.access !== 'internal' && IDEMPOTENT.has(request.method)) request.raw.socket.destroy();
      else next(new Problem('UNAVAILABLE'));
      return;
    }
    request.operatorSide = options.isOperatorPort(request.socket.localPort);
    const fault = headerFault(request);
    if (fault) next(fault);
    else if (!route || !access.serves(route.access, request.operatorSide)) {
      const problem = turnAway(request, reply, options);
      // Never rejects: every error goes to `next`.
      if (problem) void access.refuse(problem, { request, reply, next });
    } else {
      if (isForClients(route)) crossOrigin.allow(request, reply);
      const enter = (entered: HookHandlerDoneFunction): void =>
        access.enter(route, { request, reply, next: entered });
      enterTraced(request, route, { enter, next });
    }
  });
  fastify.addHook('preHandler', (request, reply, next) => {
    const { record }: { record: RequestRecord | null } = request;
    if (record) continueTraced(request, () => validateRequest(request, reply, next));
    else {
      // Fastify runs no earlier hook for a target that is neither a path nor a URL, such as `*`.
      begin(request, reply);
      next(new Problem('MALFORMED_REQUEST'));
      logger.info(requestLine(request, 400), 'request');
    }
  });
  fastify.addHook('onResponse', (request, reply, next) => {
    if (open.end(reply)) end(request, reply.raw.statusCode, logger);
    next();
  });
}

/** Methods of requests that a balancer may repeat. */
const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Whether a stopping process still serves a request: probes, and what clients send on earlier connections,
 * which end with the response. Other processes of the deployment send theirs elsewhere.
 */
function staysOn(reply: FastifyReply, { isLate }: HttpOptions): boolean {
  const { request } = reply;
  const { matchedRoute: route } = request;
  reply.header('connection', 'close');
  if (route?.access === 'internal') {
    reply.header(STOPPING_HEADER, 'true');
    return false;
  }
  return isProbe(route) || !isLate(request.raw.socket);
}

/** The logged status if the client disconnects before the response, as in nginx. */
const CLIENT_CLOSED_REQUEST = 499;

/** Ends a request whose client disconnected before the end of the response; Fastify does not report that. */
async function leave({ request, raw }: FastifyReply, logger: Logger): Promise<void> {
  const { record } = request;
  await record.underWay;
  record.ended ??= 'client_gone';
  end(request, raw.headersSent ? raw.statusCode : CLIENT_CLOSED_REQUEST, logger);
}

/** Logs and counts a request that has ended. */
function end(request: FastifyRequest, status: number, logger: Logger): void {
  endTrace(request, status);
  requestEnded(request, status);
  // Probes and scrapes come many times a minute and tell nothing new.
  const level = isProbe(request.matchedRoute) ? 'debug' : 'info';
  logger[level](requestLine(request, status), 'request');
}

/** Whether a route shows the state of the process, and does no work. */
const isProbe = (route: RouteDefinition | undefined): boolean =>
  route?.access === 'probe' || route?.access === 'metrics';

/** Sets the route, id and record of a request, and the headers of every response. */
function begin(request: FastifyRequest, reply: FastifyReply): RouteDefinition | undefined {
  request.record = { startedMs: performance.now() };
  const { route } = request.routeOptions.config;
  request.matchedRoute = route;
  request.socket.setNoDelay(true);
  const id = `${route?.idPrefix ?? 'req-'}${request.id}`;
  if (route?.access === 'internal') {
    request.id = id;
    leaveOut(reply);
  } else {
    nameRequest(request, reply, id);
    reply.header('x-svc-version', VERSION);
  }
  return route;
}

/** A neighbour ignores the headers that Node adds, and each line costs both sides. */
function leaveOut({ raw }: FastifyReply): void {
  raw.removeHeader('date');
  raw.removeHeader('connection');
}

/**
 * The problem for a request without a route on its port. `undefined` for a CORS preflight, which has been
 * answered.
 */
function turnAway(request: FastifyRequest, reply: FastifyReply, options: HttpOptions): Problem | undefined {
  const there = options.access.paths
    .at(request.url)
    .filter(({ access }) => options.access.serves(access, request.operatorSide));
  if (there.length === 0) return notFound(request, options.access.paths);
  if (options.crossOrigin.responses(request, reply, there)) return undefined;
  if (there.some(isForClients)) options.crossOrigin.allow(request, reply);
  const allowed = methodsOf(there);
  reply.raw.setHeader('allow', allowed);
  return new Problem('METHOD_NOT_ALLOWED', {
    message: `This route supports ${allowed}, not ${request.method}.`,
  });
}
