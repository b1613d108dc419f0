import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Catalog } from '@svc/catalog';
import { type BackendState, BackendStates } from '@svc/contracts/inference';
import { notifyOfChanges } from '@svc/contracts/messages';
import { JobWorkers } from '@svc/jobs';
import { RootLogger } from '@svc/runtime';
import { ChangeNoticesStore, type Noticed } from './change-notices.store.js';
import { WebhookDeliveries } from './webhook-deliveries.js';

const EVERY_TWO_MINUTES = '*/2 * * * *';

/** Notifies of backends, of the catalogue and of its models, in one process for all gateways. */
@Injectable()
export class ChangeNoticesWorker implements OnModuleInit {
  constructor(
    private readonly notices: ChangeNoticesStore,
    private readonly catalog: Catalog,
    private readonly states: BackendStates,
    private readonly workers: JobWorkers,
    private readonly deliveries: WebhookDeliveries,
    private readonly logger: RootLogger,
  ) {}

  onModuleInit(): void {
    const times = { payload: {}, cron: EVERY_TWO_MINUTES, atStart: true };
    this.workers.work(notifyOfChanges, () => this.notify(), times);
  }

  private async notify(): Promise<void> {
    const { byOperator, byAccounts } = await this.notices.wanted();
    if (byAccounts) {
      await this.notices.notifyAccounts(modelNotices(this.catalog, Date.now()));
      this.deliveries.wake();
    }
    if (!byOperator) return;
    const { source } = this.catalog;
    const view = source?.view;
    if (view) await this.notices.notifyOperator('catalogue ', catalogNotices(view));
    try {
      const { backends } = await this.states.report();
      await this.notices.notifyOperator('backend ', backendNotices(backends));
    } catch (error) {
      this.logger.log.warn({ error: String(error) }, 'the operator was not notified of backends');
    }
  }
}

type CatalogView = Pick<NonNullable<Catalog['source']>['view'], 'hash' | 'changes' | 'rejected'>;

export function catalogNotices({ hash, changes, rejected }: CatalogView): Noticed[] {
  const inForce: Noticed = {
    subject: 'catalogue in force',
    state: hash,
    type: 'catalog.changed',
    data: { hash, changes: changes.length, first_change: changes[0] ?? null },
    isUsual: true,
  };
  if (rejected === null) return [inForce];
  const data = { hash: rejected.hash, reason: rejected.reason };
  const state = rejected.hash ?? rejected.reason;
  return [inForce, { subject: 'catalogue refused', state, type: 'catalog.refused', data }];
}

export function modelNotices(catalog: Catalog, nowMs: number): Noticed[] {
  return catalog.entries().flatMap(({ id, deprecation }) => {
    if (!deprecation || Date.parse(deprecation.startsAt ?? '') > nowMs) return [];
    const { date, removesAt, replacementModelId } = deprecation;
    const data = {
      model: id,
      deprecated_at: new Date(date).toISOString(),
      removed_at: new Date(removesAt).toISOString(),
      replacement: replacementModelId ?? null,
    };
    return [{ subject: `model ${id}`, state: `${date} ${removesAt}`, type: 'model.deprecated', data }];
  });
}

const KINDS = {
  up: 'backend.restored',
  full: 'backend.restored',
  behind: 'backend.restored',
  cooling: 'backend.ejected',
  wrong_chain: 'backend.ejected',
  draining: 'backend.paused',
  off: 'backend.paused',
} as const satisfies Record<BackendState['state'], Noticed['type']>;

export function backendNotices(backends: readonly BackendState[]): Noticed[] {
  return backends.map(({ model, name, url, state, reason }) => {
    const type = KINDS[state];
    return {
      subject: `backend ${model} ${name} ${url}`,
      state: type,
      type,
      data: { model, backend: name, state, reason },
      isUsual: type === 'backend.restored',
    };
  });
}
