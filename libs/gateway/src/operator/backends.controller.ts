import { Body, Controller, Param } from '@nestjs/common';
import type { BackendList, BackendStateView, NewBackendState } from '@svc/api/operator';
import { routes } from '@svc/api';
import { Catalog } from '@svc/catalog';
import { BackendStates, networkOfNodes } from '@svc/contracts/inference';
import { Problem } from '@svc/contracts/problems';
import { Serves } from '@svc/runtime';
import { DrainStore } from '../drains/drain.store.js';
import { StoredDrains } from '../drains/stored-drains.js';

/** A backend of a model. */
interface NamedBackend {
  readonly model: string;
  readonly name: string;
}

/** Shows the state of the backends, and takes them out of service. */
@Controller()
export class BackendsController {
  constructor(
    private readonly states: BackendStates,
    private readonly catalog: Catalog,
    private readonly store: DrainStore,
    private readonly drains: StoredDrains,
  ) {}

  @Serves(routes.listBackends)
  async list(): Promise<BackendList> {
    const { routers, backends } = await this.states.report();
    return { object: 'list', data: [...backends], routers };
  }

  @Serves(routes.setBackendState)
  async set(@Param() backend: NamedBackend, @Body() change: NewBackendState): Promise<BackendStateView> {
    const view = await this.change(backend, change);
    await this.drains.changed();
    return view;
  }

  /** What the catalogue no longer has can still be put back. */
  private async change(
    { model, name }: NamedBackend,
    { state, reason, until }: NewBackendState,
  ): Promise<BackendStateView> {
    if (state !== 'active') {
      if (!this.isKnown({ model, name })) throw new Problem('BACKEND_NOT_FOUND');
      const end = until === undefined ? null : new Date(until).toISOString();
      if (end !== null && Date.parse(end) <= Date.now())
        throw new Problem('INVALID_REQUEST', { param: 'until', message: '`until` must be in the future' });
      return this.store.set({ model, name, state, reason, until: end });
    }
    await this.store.end(model, name);
    return { model, name, state, reason, since: new Date().toISOString(), until: null };
  }

  private isKnown({ model, name }: NamedBackend): boolean {
    const network = networkOfNodes(model);
    const entries = network === undefined ? this.catalog.backendsOf(model) : this.catalog.nodesOf(network);
    return entries.some(({ name: own, eachAddress }, position) => {
      const entryName = own ?? `backend-${position + 1}`;
      const address = name.startsWith(`${entryName}#`) ? name.slice(entryName.length + 1) : '';
      return name === entryName || (eachAddress === true && /^[1-9]\d{0,3}$/.test(address));
    });
  }
}
