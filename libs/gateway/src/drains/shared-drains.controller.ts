import { Controller } from '@nestjs/common';
import type { Drain } from '@svc/contracts/inference';
import { Problem } from '@svc/contracts/problems';
import { routes } from '@svc/api';
import { Serves } from '@svc/runtime';
import { DrainStore } from './drain.store.js';

/** Shows routers of other processes the backends that are out of service. */
@Controller()
export class SharedDrainsController {
  constructor(private readonly store: DrainStore) {}

  @Serves(routes.readDrains)
  async read(): Promise<{ data: Drain[] }> {
    try {
      return { data: await this.store.list() };
    } catch (cause) {
      throw new Problem('UNAVAILABLE', { cause });
    }
  }
}
