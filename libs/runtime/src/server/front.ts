import type { RequestListener } from 'node:http';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import { Bodies } from '../http/bodies.js';
import type { BodyBounds } from '../http/body-budget.js';
import { enterConsole } from '../http/known-paths.js';
import { CrossOrigin } from '../http/cross-origin.js';
import { RequestStages, type StageOptions } from '../http/request-stages.js';
import { RequestSteps } from '../http/request-steps.js';
import { DirectRoutes } from './direct-routes.js';
import { createHttpAdapter } from './http-adapter.js';
import { InnerCalls } from './inner-calls.js';

interface FrontOptions extends Omit<StageOptions, 'bodies' | 'crossOrigin' | 'steps'> {
  readonly bodies: Partial<BodyBounds> | undefined;
  readonly corsOrigins: string | undefined;
  readonly trustedProxies: string | undefined;
}

/** What answers the requests of a process: direct routes, and Fastify under Nest for all others. */
interface Front {
  readonly adapter: FastifyAdapter;
  readonly steps: RequestSteps;
  readonly handle: RequestListener;
  readonly direct: DirectRoutes;
  readonly inner: InnerCalls;
}

export function createFront(options: FrontOptions): Front {
  const bodies = new Bodies(options.bodies);
  const crossOrigin = new CrossOrigin(options.corsOrigins);
  const steps = new RequestSteps();
  const stages = new RequestStages({ ...options, bodies, crossOrigin, steps });
  const trustedProxies = options.trustedProxies?.split(',');
  const direct = new DirectRoutes({ stages, bodies, steps, trustedProxies });
  const { access } = options;
  const adapter = createHttpAdapter({ stages, access, bodies, steps, trustedProxies });
  const fastify = adapter.getInstance();
  const handle: RequestListener = (request, response) => {
    enterConsole(request);
    if (!direct.serves(request, response)) fastify.routing(request, response);
  };
  return { adapter, steps, handle, direct, inner: new InnerCalls(handle) };
}
