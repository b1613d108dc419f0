import type { BackendPool, LiveBackend } from '@svc/backend-calls';
import type { Catalog } from '@svc/catalog';
import type { Backend } from '@svc/contracts/catalog';
import {
  type RouterReport,
  type BackendState,
  BackendStates,
  joinedReports,
  nodesName,
} from '@svc/contracts/inference';
import type { NodeChecks } from './node-checks.js';

type Condition = Pick<BackendState, 'state' | 'reason'>;

/** The state of the backends of the catalogue, as this router sees them. */
export class LocalBackendStates extends BackendStates {
  constructor(
    private readonly catalog: Catalog,
    private readonly pool: BackendPool,
    private readonly nodes: NodeChecks,
  ) {
    super();
  }

  override report(): Promise<RouterReport> {
    return Promise.resolve(joinedReports([this.rows()]));
  }

  private rows(): BackendState[] {
    const { backendsByModel, nodesByNetwork } = this.catalog;
    return [
      ...[...backendsByModel].flatMap(([model, backends]) => this.rowsOf(model, backends)),
      ...[...nodesByNetwork].flatMap(([network, nodes]) => this.rowsOf(nodesName(network), nodes)),
    ];
  }

  private rowsOf(model: string, backends: readonly Backend[]): BackendState[] {
    return this.pool
      .members(backends)
      .map((live) => ({
        model,
        name: live.name,
        url: live.origin + live.basePath,
        ...this.conditionOf(live, model),
        drainedAs: this.pool.drains.of(model, live.name)?.name ?? null,
        inFlight: live.inFlight,
        waiting: live.load.waitingCalls,
        maxInFlight: live.backend.maxInFlight,
        ...recentOf(live),
        hitShare: live.work.hitShare ?? null,
      }))
      .toSorted((a, b) => a.name.localeCompare(b.name, 'en'));
  }

  private conditionOf(live: LiveBackend, model: string): Condition {
    const drain = this.pool.drains.of(model, live.name);
    if (drain) {
      const end = drain.until === null ? '' : `, until ${drain.until}`;
      return { state: drain.state, reason: `${drain.reason}${end}` };
    }
    if (this.nodes.isWrong(live))
      return { state: 'wrong_chain', reason: 'It reports another chain than the catalogue has for it' };
    const { current } = live.health;
    if (current) {
      const seconds = Math.ceil(current.restMs / 1_000);
      return { state: 'cooling', reason: `Called last for ${seconds} s more: ${current.reason}` };
    }
    if (this.nodes.isLagging(live))
      return { state: 'behind', reason: `${this.nodes.lagOf(live) ?? 0} blocks behind the others` };
    if (live.health.isFull)
      return { state: 'full', reason: 'Its own metrics say that its queue or its cache is full' };
    if (live.inFlight >= live.backend.maxInFlight) return { state: 'full', reason: 'All slots are in use' };
    return { state: 'up', reason: null };
  }
}

/** How its calls of the last minutes went. */
function recentOf({ health: { recent } }: LiveBackend) {
  recent.turn(performance.now());
  const roundedMs = (share: number): number | null => {
    const ms = recent.firstByteMs(share);
    return ms === undefined ? null : Math.round(ms);
  };
  return {
    firstTokenP50Ms: roundedMs(0.5),
    firstTokenP99Ms: roundedMs(0.99),
    failedShare: recent.failedShare ?? null,
  };
}
