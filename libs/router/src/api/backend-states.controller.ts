import { Controller, Inject } from '@nestjs/common';
import { routes } from '@svc/api';
import type { BackendState } from '@svc/contracts/inference';
import { Serves } from '@svc/runtime';
import { RouterPorts } from './router-ports.js';

/** Shows the state of the backends to other processes. */
@Controller()
export class BackendStatesController {
  constructor(@Inject(RouterPorts) private readonly router: RouterPorts) {}

  @Serves(routes.readBackends)
  async read(): Promise<{ data: BackendState[] }> {
    const { backends } = await this.router.states.report();
    return { data: [...backends] };
  }
}
