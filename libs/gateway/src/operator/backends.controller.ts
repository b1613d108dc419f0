import { Controller } from '@nestjs/common';
import type { BackendList } from '@svc/api/operator';
import { routes } from '@svc/api';
import { BackendStates } from '@svc/contracts/inference';
import { Serves } from '@svc/runtime';

/** Shows the state of the backends. */
@Controller()
export class BackendsController {
  constructor(private readonly states: BackendStates) {}

  @Serves(routes.listBackends)
  async list(): Promise<BackendList> {
    const { routers, backends } = await this.states.report();
    return { object: 'list', data: [...backends], routers };
  }
}
