import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Bodies } from '../http/bodies.js';
import type { RequestStages } from '../http/request-stages.js';
import type { RequestSteps } from '../http/request-steps.js';
import type { DirectMethod } from '../http/route.js';
import { sendProblem } from '../http/send-problem.js';
import { DirectReply } from './direct-reply.js';
import { DirectRequest, type Trusts, trusting } from './direct-request.js';
import { toProblem } from './problem-filter.js';

/** The content types that clients send. Fastify judges any other. */
const USUAL_TYPE = /^application\/json(?:; ?charset=utf-?8)?$/i;

interface DirectOptions {
  readonly stages: RequestStages;
  readonly bodies: Bodies;
  readonly steps: RequestSteps;
  readonly trustedProxies: readonly string[] | undefined;
}

/**
 * Serves the routes whose handlers write their responses themselves, without Fastify, which costs as much as
 * a tenth of a completion. They go through the same stages. A request that is unusual in any way that Fastify
 * decides on (another spelling of the path, a query, another content type) is left to it.
 */
export class DirectRoutes {
  private readonly routes = new Map<string, DirectMethod>();
  private readonly trusts: Trusts | undefined;

  constructor(private readonly options: DirectOptions) {
    const { trustedProxies } = options;
    this.trusts = trustedProxies && trusting(trustedProxies);
  }

  add(methods: readonly DirectMethod[]): void {
    for (const method of methods) this.routes.set(method.route.path, method);
  }

  /** Whether a request is for a direct route; it is then served. */
  serves(raw: IncomingMessage, response: ServerResponse): boolean {
    const found = this.routes.get(raw.url ?? '');
    if (!found || raw.method !== found.route.method) return false;
    if (!USUAL_TYPE.test(raw.headers['content-type'] ?? '')) return false;
    const request = new DirectRequest(raw, this.trusts);
    const reply = new DirectReply(response, request, this.options.steps);
    this.serve(request, reply, found);
    return true;
  }

  private serve(request: DirectRequest, reply: DirectReply, { route, handler }: DirectMethod): void {
    const { stages, bodies } = this.options;
    const ended = (): void => stages.ended(request, reply);
    // Each comes once, so a wrapper that removes its listener would only cost.
    reply.raw.on('finish', ended).on('error', ended);
    /** Runs the next stage, unless there is a problem. Never throws. */
    const unless = (problem: Error | null | undefined, stage: () => void): void => {
      if (!problem) {
        try {
          stage();
          return;
        } catch (error) {
          problem = error as Error;
        }
      }
      sendProblem(toProblem(problem), request, reply);
    };
    const handle = (): void => {
      const ready = this.options.steps.ready(request, reply);
      const work =
        ready === true
          ? handler(request, reply)
          : ready.then((goesOn) => (goesOn ? handler(request, reply) : undefined));
      work.catch((error: unknown) => unless(error as Error, handle));
    };
    const check = (): void => stages.check(request, (problem) => unless(problem, handle));
    const receive = (): void =>
      bodies.receive(request, request.raw, (problem, body) => {
        request.body = body;
        unless(problem, check);
      });
    stages.begin(request, reply, route);
    stages.enter(request, reply, (problem) => unless(problem, receive));
  }
}
