import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Problem } from '@svc/contracts/problems';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RequestRecord } from '../http/request-record.js';
import { newId } from '../http/request-id.js';
import type { RequestStages, StageOptions } from '../http/request-stages.js';

interface AdapterOptions extends Pick<StageOptions, 'access' | 'bodies' | 'steps'> {
  readonly stages: RequestStages;
  /** Addresses of proxies whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: readonly string[] | undefined;
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

/** Fastify under Nest. Its requests go through the stages of all requests as hooks. */
export function createHttpAdapter(options: AdapterOptions): FastifyAdapter {
  const { stages, trustedProxies } = options;
  const adapter = new OpenAdapter({
    logger: false,
    genReqId: newId,
    requestIdHeader: false,
    trustProxy: trustedProxies === undefined ? false : [...trustedProxies],
    // A route's schema limits the length of names; the size of headers limits a URL as a whole.
    // Some clients put a slash between a base URL that ends with one and a path, or behind the path.
    routerOptions: { maxParamLength: 4_000, ignoreTrailingSlash: true, ignoreDuplicateSlashes: true },
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) => {
      stages.begin(request, reply, undefined);
      stages.refuse(new Problem('MALFORMED_REQUEST', { cause: error }), request, reply);
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

function addHooks(fastify: FastifyInstance, { stages, access, steps }: AdapterOptions): void {
  fastify.addHook('onRoute', access.onRoute);
  fastify.addHook('onRequest', (request, reply, next) => {
    stages.begin(request, reply, request.routeOptions.config.route);
    stages.enter(request, reply, next);
  });
  fastify.addHook('preHandler', (request, reply, next) => {
    const { record }: { record: RequestRecord | null } = request;
    if (record) stages.check(request, next);
    else {
      // Fastify runs no earlier hook for a target that is neither a path nor a URL, such as `*`.
      stages.begin(request, reply, undefined);
      stages.refuse(new Problem('MALFORMED_REQUEST'), request, reply);
    }
  });
  fastify.addHook('preHandler', async (request, reply) =>
    (await steps.ready(request, reply)) ? undefined : reply,
  );
  fastify.addHook('onSend', (request, reply, payload) => steps.sending(request, reply, payload));
  fastify.addHook('onResponse', (request, reply, next) => {
    stages.ended(request, reply);
    next();
  });
}
