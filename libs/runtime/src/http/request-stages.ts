import type { Socket } from 'node:net';
import type { RouteDefinition } from '@svc/api/route';
import { Problem } from '@svc/contracts/problems';
import { innerSenderOf } from '../calls/inner-senders.js';
import { STOPPING_HEADER } from '../calls/internal-client.js';
import { type Logger, logRequest } from '../logging/logging.js';
import { VERSION } from '../version.js';
import { type AccessControl, isForClients } from './access.js';
import type { Bodies } from './bodies.js';
import type { CrossOrigin } from './cross-origin.js';
import type { Incoming, Next, Outgoing } from './incoming.js';
import { methodsOf, notFound } from './known-paths.js';
import { headerFault } from './malformed.js';
import { OpenRequests } from './open-requests.js';
import { nameRequest } from './request-id.js';
import { requestEnded, requestStarted } from './request-metrics.js';
import { requestLine } from './request-record.js';
import type { RequestSteps } from './request-steps.js';
import { continueTraced, endTrace, enterTraced } from './request-trace.js';
import { sendProblem } from './send-problem.js';
import { validateRequest } from './validation.js';

export interface StageOptions {
  readonly logger: Logger;
  readonly access: AccessControl;
  readonly bodies: Bodies;
  readonly crossOrigin: CrossOrigin;
  readonly steps: RequestSteps;
  /** Whether a request came in on the operator's port. */
  readonly isOperatorPort: (port: number | undefined) => boolean;
  /**
   * Whether the process is stopping: connections end with their next response, and other processes are sent
   * elsewhere.
   */
  readonly isStopping: () => boolean;
  /** Whether a connection was opened after the process stopped taking work. */
  readonly isLate: (socket: Socket) => boolean;
}

/** The stages of every request, whether Fastify routes it or it has a direct route. */
export class RequestStages {
  private readonly open: OpenRequests;

  constructor(private readonly options: StageOptions) {
    this.open = new OpenRequests((reply) => void leave(reply, options));
  }

  /** Sets the route, id and record of a request, and the headers of every response. */
  begin(request: Incoming, reply: Outgoing, route: RouteDefinition | undefined): void {
    request.record = { startedMs: performance.now() };
    request.matchedRoute = route;
    request.socket.setNoDelay(true);
    const id = innerSenderOf(request)?.requestId ?? `${route?.idPrefix ?? 'req-'}${request.id}`;
    if (route?.access === 'internal') {
      request.id = id;
      leaveOut(reply);
    } else {
      nameRequest(request, reply, id);
      reply.header('x-svc-version', VERSION);
    }
  }

  /** Admits a request, before its body is read: reading a body costs more than rejecting its sender. */
  enter(request: Incoming, reply: Outgoing, next: Next): void {
    const { options } = this;
    const { access, crossOrigin, steps } = options;
    const { matchedRoute: route } = request;
    requestStarted();
    this.open.begin(reply);
    // A neighbour may read as slowly as the client that it serves.
    if (route?.access !== 'internal') this.open.watch(reply);
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
      const enter = (entered: Next): void => access.enter(route, { request, reply, next: entered });
      const admitted: Next = (problem) => {
        if (!problem) steps.admitted(request, reply);
        next(problem);
      };
      enterTraced(request, route, { enter, next: admitted });
    }
  }

  /** Checks a request whose body has been read. */
  check(request: Incoming, next: Next): void {
    continueTraced(request, () => validateRequest(request, next));
  }

  /** Called when the response has been written to its end. */
  ended(request: Incoming, reply: Outgoing): void {
    if (this.open.end(reply)) end(request, reply.raw.statusCode, this.options);
    this.options.bodies.ended(request);
  }

  /** Refuses and logs a request that goes through no other stage. */
  refuse(problem: Problem, request: Incoming, reply: Outgoing): void {
    const { logger, steps } = this.options;
    sendProblem(problem, request, reply);
    const status = reply.raw.statusCode;
    logRequest(logger, 'info', requestLine(request, status));
    steps.ended(request, status);
  }
}

/** Methods of requests that a balancer may repeat. */
const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Whether a stopping process still serves a request: probes, and what clients send on earlier connections,
 * which end with the response. Other processes of the deployment send theirs elsewhere.
 */
function staysOn(reply: Outgoing, { isLate }: StageOptions): boolean {
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

/** Ends a request whose client disconnected before the end of the response. */
async function leave({ request, raw }: Outgoing, options: StageOptions): Promise<void> {
  const { record } = request;
  await record.underWay?.over;
  record.ended ??= 'client_gone';
  end(request, raw.headersSent ? raw.statusCode : CLIENT_CLOSED_REQUEST, options);
}

/** Logs and counts a request that has ended. */
function end(request: Incoming, status: number, { logger, steps }: StageOptions): void {
  endTrace(request, status);
  requestEnded(request, status);
  // Probes and scrapes come many times a minute and tell nothing new.
  const level = isProbe(request.matchedRoute) ? 'debug' : 'info';
  logRequest(logger, level, requestLine(request, status));
  steps.ended(request, status);
}

/** Whether a route shows the state of the process, and does no work. */
const isProbe = (route: RouteDefinition | undefined): boolean =>
  route?.access === 'probe' || route?.access === 'metrics';

/** A neighbour ignores the headers that Node adds, and each line costs both sides. */
function leaveOut({ raw }: Outgoing): void {
  raw.removeHeader('date');
  raw.removeHeader('connection');
}

/**
 * The problem for a request without a route on its port. `undefined` for a CORS preflight, which has been
 * answered.
 */
function turnAway(request: Incoming, reply: Outgoing, options: StageOptions): Problem | undefined {
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
