import { Controller, Query } from '@nestjs/common';
import { type ActionList, ActionQuery } from '@svc/api/operator';
import { routes } from '@svc/api';
import { Serves } from '@svc/runtime';
import { ActionStore } from './action.store.js';

/** Lists operator actions. */
@Controller()
export class ActionsController {
  constructor(private readonly actions: ActionStore) {}

  @Serves(routes.listActions)
  async list(@Query() query: ActionQuery): Promise<ActionList> {
    const data = await this.actions.list(query);
    const nextBefore = data.length === query.limit ? (data.at(-1)?.id ?? null) : null;
    return { object: 'list', data, nextBefore };
  }
}
