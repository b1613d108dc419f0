import { Injectable } from '@nestjs/common';
import { Catalog } from '@svc/catalog';
import { KeyStore } from '@svc/identity/accounts';
import { keyNames } from './usage-key-names.js';
import type { ReportNames } from './usage-report.js';

interface NamedUsage {
  readonly names: ReportNames;
  /** The tags of a key. */
  readonly tagsOf: (keyId: string) => readonly string[];
}

/** The names of what usage is of. */
@Injectable()
export class UsageNames {
  constructor(
    private readonly keys: KeyStore,
    private readonly catalog: Catalog,
  ) {}

  async of(accountId: string, usage: readonly { readonly keyId: string }[]): Promise<NamedUsage> {
    const keyIds = [...new Set(usage.map(({ keyId }) => keyId))].toSorted();
    const labels = await this.keys.labels(accountId, keyIds);
    const names = keyNames(keyIds, labels);
    const tags = new Map(labels.map((label) => [label.id, label.tags]));
    const types = new Map(this.catalog.entries().map(({ id, type }) => [id, type]));
    return {
      names: { modelType: (id) => types.get(id) ?? null, keyName: (id) => names.get(id) ?? id },
      tagsOf: (keyId) => tags.get(keyId) ?? [],
    };
  }
}
