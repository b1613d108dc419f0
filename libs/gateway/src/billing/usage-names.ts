import { Injectable } from '@nestjs/common';
import { Catalog } from '@svc/catalog';
import { KeyStore } from '@svc/identity/accounts';
import { keyNames } from './usage-key-names.js';
import type { ReportNames } from './usage-report.js';

/** The names of what usage is of. */
@Injectable()
export class UsageNames {
  constructor(
    private readonly keys: KeyStore,
    private readonly catalog: Catalog,
  ) {}

  async of(accountId: string, usage: readonly { readonly keyId: string }[]): Promise<ReportNames> {
    const keyIds = [...new Set(usage.map(({ keyId }) => keyId))].toSorted();
    const names = keyNames(keyIds, await this.keys.labels(accountId, keyIds));
    const types = new Map(this.catalog.entries().map(({ id, type }) => [id, type]));
    return { modelType: (id) => types.get(id) ?? null, keyName: (id) => names.get(id) ?? id };
  }
}
