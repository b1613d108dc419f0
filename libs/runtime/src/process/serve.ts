import type { AddressInfo } from 'node:net';
import { type Abstract, type DynamicModule, Module, type Type } from '@nestjs/common';
import { ModuleRef, ModulesContainer, NestFactory } from '@nestjs/core';
import { UnknownElementException } from '@nestjs/core/errors/exceptions/unknown-element.exception.js';
import type { CustomTransportStrategy } from '@nestjs/microservices';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AccessControl, AccessGates } from '../http/access.js';
import type { BodyBounds } from '../http/body-budget.js';
import { type RequestSteps, RequestStepsModule } from '../http/request-steps.js';
import { directMethods } from '../http/route.js';
import { InternalToken, type SharedSecret } from '../http/secrets.js';
import { HealthModule, Readiness } from './health.js';
import { LogLevelController } from './log-level.controller.js';
import { MetricsController } from './metrics.controller.js';
import { Ports } from './ports.js';
import { createFront } from '../server/front.js';
import { type InnerCalls, InnerCallsModule } from '../server/inner-calls.js';
import { ProblemFilter } from '../server/problem-filter.js';
import { LoggerModule } from '../logging/logger.module.js';
import { type Logger, nestLogger } from '../logging/logging.js';

/** How long open streams may go on once a process is stopping. Kubernetes kills at 30 s by default. */
export const DRAIN_MS = 25_000;

/**
 * How long a stopping process still serves all connections: a client may be about to use one, and a balancer
 * may not know yet. Each connection closes with its next response.
 */
const LINGER_MS = 250;

export interface Listener {
  readonly host: string;
  readonly port: number;
}

export interface ServeOptions {
  readonly module: DynamicModule | Type;
  readonly logger: Logger;
  /** Whether the process can serve; default: from the start until it stops. */
  readonly readiness?: Readiness;
  readonly api: Listener;
  /** The operator's port; without it the operator's routes are not served at all. */
  readonly operator?: Listener;
  /** The source of this process's events. */
  readonly events?: (app: NestFastifyApplication) => CustomTransportStrategy;
  readonly drainMs?: number;
  /** Comma-separated addresses, as IP, CIDR or `loopback`, of proxies whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies?: string;
  /** The most open connections of a client's address to the public API; default: 0, for no bound. */
  readonly connectionsPerAddress?: number;
  /**
   * A second listener for the public API, a port or the path of a Unix socket, where connections begin with a
   * PROXY header.
   */
  readonly proxyListen?: string | undefined;
  /** Comma-separated origins, or `*`, whose pages may call client routes; default: none. */
  readonly corsOrigins?: string;
  /** Limits on bodies being received; default: `BODY_BOUNDS`. */
  readonly bodies?: Partial<BodyBounds>;
  /** A secret that can read metrics and nothing else. */
  readonly metricsToken?: SharedSecret | undefined;
}

/** A serving process. */
export interface Running {
  readonly app: NestFastifyApplication;
  readonly apiUrl: string;
  readonly operatorUrl: string | undefined;
  /**
   * Closes each connection after its next response, stops accepting work on new ones after a moment, lets
   * open responses finish up to a deadline, then closes everything but the ports, which answer probes and
   * scrapes until the process ends. Calls of other processes are sent elsewhere at once.
   */
  finish(): Promise<void>;
  /** The same, and closes the ports as well. */
  stop(): Promise<void>;
}

/** What the modules of a process may inject. */
interface Provided {
  readonly logger: Logger;
  readonly readiness: Readiness;
  readonly steps: RequestSteps;
  readonly inner: InnerCalls;
}

/** What every process serves and provides, in addition to its own module. */
@Module({})
class ProcessModule {
  static around(module: ServeOptions['module'], provided: Provided): DynamicModule {
    const { logger, readiness, steps, inner } = provided;
    return {
      module: ProcessModule,
      controllers: [MetricsController, LogLevelController],
      imports: [
        HealthModule.of(readiness),
        LoggerModule.of(logger),
        RequestStepsModule.of(steps),
        InnerCallsModule.of(inner),
        module,
      ],
    };
  }
}

/** Starts Nest on Fastify, then the event consumers, then the ports. */
export async function serve(options: ServeOptions): Promise<Running> {
  const { logger, readiness = new Readiness(), drainMs = DRAIN_MS } = options;
  const state: { stopping: boolean; operatorPort: number | undefined } = {
    stopping: false,
    operatorPort: undefined,
  };
  const access = new AccessControl(options.operator !== undefined);
  const ports = new Ports((request, response) => front.handle(request, response), options);
  const front = createFront({
    logger,
    access,
    bodies: options.bodies,
    corsOrigins: options.corsOrigins,
    trustedProxies: options.trustedProxies,
    isOperatorPort: (port) => port !== undefined && port === state.operatorPort,
    isStopping: () => state.stopping,
    isLate: (socket) => ports.isLate(socket),
  });
  const { adapter, steps, inner } = front;
  const root = ProcessModule.around(options.module, { logger, readiness, steps, inner });
  const app = await NestFactory.create<NestFastifyApplication>(root, adapter, {
    logger: nestLogger(logger),
    bodyParser: false,
    abortOnError: false,
  });
  app.useGlobalFilters(new ProblemFilter());
  if (options.events) app.connectMicroservice({ strategy: options.events(app) }, { inheritAppConfig: true });
  let apiUrl: string;
  let operatorUrl: string | undefined;
  try {
    await app.startAllMicroservices();
    await app.init();
    for (const controller of controllersOf(app)) front.direct.add(directMethods(controller));
    access.decideWith({
      gates: provided(app, AccessGates),
      internalToken: provided(app, InternalToken),
      metricsToken: options.metricsToken,
    });
    await adapter.getInstance().ready();
    if (options.operator) {
      const address = await ports.open(options.operator);
      state.operatorPort = address.port;
      operatorUrl = urlOf(address);
    }
    if (options.proxyListen !== undefined) await ports.openProxied(options.proxyListen, options.api.host);
    apiUrl = urlOf(await ports.open(options.api, { isForClients: true }));
  } catch (error) {
    ports.close();
    await app.close();
    throw error;
  }
  const finish = async (): Promise<void> => {
    state.stopping = true;
    readiness.report('process', 'stopping');
    const lingerMs = Math.min(LINGER_MS, drainMs);
    await ports.linger(lingerMs);
    await ports.drain(drainMs - lingerMs);
    await app.close();
  };
  return {
    app,
    apiUrl,
    operatorUrl,
    finish,
    stop: async () => {
      await finish();
      ports.close();
    },
  };
}

/** The controllers of all modules of a process. */
function controllersOf(app: NestFastifyApplication): object[] {
  const modules = [...app.get(ModulesContainer).values()];
  const wrappers = modules.flatMap(({ controllers }) => [...controllers.values()]);
  return wrappers.map(({ instance }) => instance);
}

/** The provider of a token, if any service of the process has one. */
function provided<Value>(app: NestFastifyApplication, token: Abstract<Value>): Value | undefined {
  try {
    // Not from the application itself, which would log a missing provider.
    return app.get(ModuleRef).get<Value>(token, { strict: false });
  } catch (error) {
    if (error instanceof UnknownElementException) return undefined;
    throw error;
  }
}

function urlOf({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
