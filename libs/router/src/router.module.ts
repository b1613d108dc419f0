import {
  type DynamicModule,
  Inject,
  Injectable,
  Module,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type Provider,
} from '@nestjs/common';
import { BackendPool, type LiveBackend } from '@svc/backend-calls';
import { Catalog } from '@svc/catalog';
import type { Backend } from '@svc/contracts/catalog';
import { Drains, nodesName } from '@svc/contracts/inference';
import { PodAddresses, RootLogger } from '@svc/runtime';
import { router } from '@svc/telemetry';
import { LocalRouter } from './local-router.js';
import { RouterPorts } from './api/router-ports.js';
import { PORTS, portProviders } from './port-providers.js';
import type { RouterSettings } from './router.config.js';

type ValueOf = (live: LiveBackend, model: string) => number;

/** The values of backends, each with the name of its model or network, and its own. */
type Values = [number, string, string][];

/**
 * Checks nodes, follows which backends are out of service, reports the state of the backends as metrics, and
 * closes their connections at the end.
 */
@Injectable()
class BackendWatch implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly ends: readonly (() => void)[];
  private endDrains: (() => void) | undefined;

  constructor(
    @Inject(BackendPool) private readonly pool: BackendPool,
    @Inject(RouterPorts) private readonly local: LocalRouter,
    catalog: Catalog,
    private readonly pods: PodAddresses,
    private readonly drains: Drains,
  ) {
    const { nodeChecks: nodes } = this.local;
    const valuesOf = (name: string, backends: readonly Backend[], valueOf: ValueOf): Values =>
      pool.members(backends).map((live) => [valueOf(live, name), name, live.name]);
    const isDrained = (live: LiveBackend, model: string): boolean =>
      pool.drains.of(model, live.name) !== undefined;
    const ofNodes = (valueOf: ValueOf) => (): Values =>
      [...catalog.nodesByNetwork].flatMap(([network, backends]) =>
        valuesOf(nodesName(network), backends, valueOf),
      );
    const ofAll = (valueOf: ValueOf) => (): Values => [
      ...[...catalog.backendsByModel].flatMap(([model, backends]) => valuesOf(model, backends, valueOf)),
      ...ofNodes(valueOf)(),
    ];
    this.ends = [
      router.up.observe(
        // What is not a number is not reported.
        ofAll((live, model) => {
          if (isDrained(live, model)) return Number.NaN;
          return live.health.isOn() || nodes.isWrong(live) ? 0 : 1;
        }),
      ),
      router.drained.observe(ofAll((live, model) => Number(isDrained(live, model)))),
      router.inFlight.observe(ofAll((live) => live.inFlight)),
      router.room.observe(ofAll((live) => live.backend.maxInFlight - live.inFlight)),
      router.wrongChain.observe(ofNodes((live) => Number(nodes.isWrong(live)))),
      router.behind.observe(ofNodes((live) => Number(nodes.isLagging(live)))),
      router.lag.observe(ofNodes((live) => nodes.lagOf(live) ?? Number.NaN)),
    ];
  }

  async onApplicationBootstrap(): Promise<void> {
    this.local.nodeChecks.start();
    this.local.health.start();
    this.endDrains = await this.drains.follow((drains) => this.pool.drains.replace(drains));
  }

  async onApplicationShutdown(): Promise<void> {
    for (const end of this.ends) end();
    this.endDrains?.();
    this.local.nodeChecks.stop();
    this.local.health.stop();
    this.pods.close();
    await this.pool.close();
  }
}

const proxyOf = ({ ROUTER_PROXY_URL: url, ROUTER_PROXY_EXCEPT: except }: RouterSettings) =>
  url === undefined ? undefined : { url, except };

/** The router itself. `drains` provides the port `Drains`, unless a global module does. */
@Module({})
export class RouterModule {
  static with(settings: RouterSettings, drains: readonly Provider[] = []): DynamicModule {
    return {
      module: RouterModule,
      providers: [
        ...drains,
        BackendWatch,
        { provide: PodAddresses, useFactory: () => new PodAddresses() },
        {
          provide: BackendPool,
          useFactory: (pods: PodAddresses) =>
            new BackendPool(
              settings.ROUTER_CONNECT_TIMEOUT_MS,
              settings.ROUTER_SIMULATOR_URL,
              (hostname) => pods.of(hostname),
              proxyOf(settings),
            ),
          inject: [PodAddresses],
        },
        {
          provide: RouterPorts,
          useFactory: (catalog: Catalog, pool: BackendPool, { log }: RootLogger) =>
            new LocalRouter(catalog, pool, { ...settings, log }),
          inject: [Catalog, BackendPool, RootLogger],
        },
        ...portProviders,
      ],
      exports: [RouterPorts, ...PORTS],
    };
  }
}
