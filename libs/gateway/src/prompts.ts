import { Injectable } from '@nestjs/common';
import type { SvcParametersEcho } from '@svc/contracts';
import type { Model } from '@svc/runtime';

/** The system prompts that go before the caller's. */
@Injectable()
export class Prompts {
  for(_parameters: SvcParametersEcho, _model: Model): readonly string[] {
    return [];
  }
}
