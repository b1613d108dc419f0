import { Controller, type DynamicModule, Module } from '@nestjs/common';
import { Problem } from '@svc/contracts/problems';
import { routes } from '@svc/api';
import { Serves } from '../http/route.js';

/** Whether this process can serve requests. Each part reports when it can't yet, or no longer can. */
export class Readiness {
  private readonly reasons = new Map<string, string>();

  /** Reports why `part` can't serve or, without a reason, that it can again. */
  report(part: string, reason?: string): void {
    if (reason === undefined) this.reasons.delete(part);
    else this.reasons.set(part, reason);
  }

  /** The reason of each part that can't serve; empty if the process is ready. */
  get why(): string {
    return [...this.reasons].map(([part, reason]) => `${part}: ${reason}`).join('; ');
  }

  /** Throws UNAVAILABLE with the reasons. */
  check(): void {
    if (this.reasons.size > 0) throw new Problem('UNAVAILABLE', { message: `Not ready. ${this.why}` });
  }
}

@Controller()
class HealthController {
  constructor(private readonly readiness: Readiness) {}

  @Serves(routes.healthz)
  healthz(): { status: string } {
    return { status: 'ok' };
  }

  @Serves(routes.readyz)
  readyz(): { status: string } {
    this.readiness.check();
    return { status: 'ready' };
  }
}

/** Health and readiness, for every process. */
@Module({})
export class HealthModule {
  static of(readiness = new Readiness()): DynamicModule {
    return {
      module: HealthModule,
      global: true,
      controllers: [HealthController],
      providers: [{ provide: Readiness, useValue: readiness }],
      exports: [Readiness],
    };
  }
}
