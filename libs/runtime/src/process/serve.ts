import { lstat, unlink } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, ListenOptions } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Abstract, type DynamicModule, Module, type Type } from '@nestjs/common';
import { ModuleRef, NestFactory } from '@nestjs/core';
import { UnknownElementException } from '@nestjs/core/errors/exceptions/unknown-element.exception.js';
import type { CustomTransportStrategy } from '@nestjs/microservices';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AccessControl, AccessGates } from '../http/access.js';
import { Bodies } from '../http/bodies.js';
import type { BodyBounds } from '../http/body-budget.js';
import { CrossOrigin } from '../http/cross-origin.js';
import { SERVER_OPTIONS, createHttpAdapter } from '../http/http-adapter.js';
import { refuseMalformedOn, refuseUnsupportedOn } from '../http/malformed.js';
import { ProblemFilter } from '../http/problem-filter.js';
import { InternalToken, type SharedSecret } from '../http/secrets.js';
import { HealthModule, Readiness } from './health.js';
import { LogLevelController } from './log-level.controller.js';
import { MetricsController } from './metrics.controller.js';
import { requireProxyHeader } from './proxied-server.js';
import { LoggerModule } from '../logging/logger.module.js';
import { type Logger, nestLogger } from '../logging/logging.js';
import { within } from '../within.js';

/** How long open streams may go on once a process is stopping. Kubernetes kills at 30 s by default. */
export const DRAIN_MS = 25_000;

/**
 * How long a stopping process still accepts connections and serves the open ones: a client may be about to
 * use one, and a balancer may not know yet. Each connection closes with its next response.
 */
const LINGER_MS = 250;
const LOOK_MS = 10;

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
   * Closes each connection after its next response, stops accepting new ones after a moment, lets open
   * responses finish up to a deadline, then closes everything. Calls of other processes are sent elsewhere at
   * once.
   */
  stop(): Promise<void>;
}

/** What every process serves and provides, beside its own module. */
@Module({})
class ProcessModule {
  static around(module: ServeOptions['module'], logger: Logger, readiness: Readiness): DynamicModule {
    return {
      module: ProcessModule,
      controllers: [MetricsController, LogLevelController],
      imports: [HealthModule.of(readiness), LoggerModule.of(logger), module],
    };
  }
}

/** Starts Nest on Fastify, then the event consumers, then the ports. */
export async function serve(options: ServeOptions): Promise<Running> {
  const state: { stopping: boolean; operatorPort: number | undefined } = {
    stopping: false,
    operatorPort: undefined,
  };
  const access = new AccessControl(options.operator !== undefined);
  const adapter = createHttpAdapter({
    logger: options.logger,
    access,
    bodies: new Bodies(options.bodies),
    crossOrigin: new CrossOrigin(options.corsOrigins),
    isOperatorPort: (port) => port !== undefined && port === state.operatorPort,
    isStopping: () => state.stopping,
    trustedProxies: options.trustedProxies,
  });
  const { logger, readiness = new Readiness() } = options;
  const root = ProcessModule.around(options.module, logger, readiness);
  const app = await NestFactory.create<NestFastifyApplication>(root, adapter, {
    logger: nestLogger(logger),
    bodyParser: false,
    abortOnError: false,
  });
  app.useGlobalFilters(new ProblemFilter());
  if (options.events) app.connectMicroservice({ strategy: options.events(app) }, { inheritAppConfig: true });
  const others: Others = {};
  try {
    await app.startAllMicroservices();
    await app.init();
    access.decideWith({
      gates: provided(app, AccessGates),
      internalToken: provided(app, InternalToken),
      metricsToken: options.metricsToken,
    });
    const fastify = app.getHttpAdapter().getInstance();
    await fastify.ready();
    await openOthers(others, options, (request, response) => fastify.routing(request, response));
    const { operator } = others;
    if (operator) state.operatorPort = (operator.address() as AddressInfo).port;
    // Not through Nest, which would log a port conflict before the caller can report it.
    await fastify.listen(options.api);
  } catch (error) {
    for (const server of Object.values<Server>({ ...others })) server.close();
    await app.close();
    throw error;
  }
  const api: Server = app.getHttpServer();
  return {
    app,
    apiUrl: urlOf(api),
    operatorUrl: others.operator && urlOf(others.operator),
    stop: async () => {
      state.stopping = true;
      readiness.report('process', 'stopping');
      const servers = [api, ...Object.values<Server>({ ...others })];
      const { drainMs = DRAIN_MS } = options;
      const lingerMs = Math.min(LINGER_MS, drainMs);
      await linger(servers, lingerMs);
      await drain(servers, drainMs - lingerMs);
      await app.close();
    },
  };
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

/** The servers beside that of the public API. */
interface Others {
  operator?: Server;
  proxied?: Server;
}

async function openOthers(others: Others, options: ServeOptions, handle: RequestListener): Promise<void> {
  const create = (): Server => {
    const server = createServer(SERVER_OPTIONS, handle);
    refuseMalformedOn(server, options.logger);
    refuseUnsupportedOn(server, handle, options.logger);
    return server;
  };
  if (options.operator) {
    others.operator = create();
    await listen(others.operator, options.operator);
  }
  if (options.proxyListen !== undefined) {
    others.proxied = create();
    requireProxyHeader(others.proxied);
    await listen(others.proxied, await placeOf(options.proxyListen, options.api.host));
  }
}

/** A port, or the path of a Unix socket, which a killed process may have left behind. */
async function placeOf(place: string, host: string): Promise<ListenOptions> {
  if (/^\d+$/.test(place)) return { host, port: Number(place) };
  const found = await lstat(place).catch(() => undefined);
  if (found?.isSocket()) await unlink(place);
  return { path: place };
}

function listen(server: Server, place: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(place, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** Resolves when the time is over or all connections are closed. */
async function linger(servers: readonly Server[], lingerMs: number): Promise<void> {
  const endMs = performance.now() + lingerMs;
  while (performance.now() < endMs) {
    const counts = await Promise.all(
      servers.map((server) => promisify(server.getConnections.bind(server))()),
    );
    if (counts.every((count) => count === 0)) return;
    await sleep(LOOK_MS);
  }
}

/** Stops accepting and waits until every open response has ended, up to the deadline. */
async function drain(servers: readonly Server[], deadlineMs: number): Promise<void> {
  const closed = servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve())));
  // A keep-alive connection becomes idle when its response ends, and nothing else would close it.
  const sweep = setInterval(() => servers.forEach((server) => server.closeIdleConnections()), 50);
  await within(deadlineMs, Promise.all(closed)).catch(() => undefined);
  clearInterval(sweep);
  servers.forEach((server) => server.closeAllConnections());
}

function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
