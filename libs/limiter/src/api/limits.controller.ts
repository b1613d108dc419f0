import { Body, Controller } from '@nestjs/common';
import {
  type Admission,
  type AdmitCall,
  type FailureBlock,
  type LimitsState,
  type ReleaseCall,
  type RenewCall,
  type SettleCall,
  type SubjectCall,
  routes,
} from '@svc/contracts';
import { Answers } from '@svc/runtime';
import type { z } from 'zod';
import { LeasingLimiter } from '../counting/leasing-limiter.js';

/** The port `Limiter` over HTTP. */
@Controller()
export class LimitsController {
  constructor(private readonly limiter: LeasingLimiter) {}

  @Answers(routes.admitToLimits)
  admit(@Body() request: z.infer<typeof AdmitCall>): Promise<Admission> {
    return this.limiter.admit(request);
  }

  @Answers(routes.settleLimits)
  async settle(@Body() call: z.infer<typeof SettleCall>): Promise<object> {
    await this.limiter.settle(call.request, call.admission, call.tokensUsed);
    return {};
  }

  @Answers(routes.releaseLimits)
  async release(@Body() call: z.infer<typeof ReleaseCall>): Promise<object> {
    await this.limiter.release(call.request, call.admission);
    return {};
  }

  @Answers(routes.renewLimits)
  async renew(@Body() call: z.infer<typeof RenewCall>): Promise<object> {
    await this.limiter.renew(call.live);
    return {};
  }

  @Answers(routes.failureBlock)
  blocked(@Body() call: z.infer<typeof SubjectCall>): Promise<FailureBlock> {
    return this.limiter.blocked(call.subject);
  }

  @Answers(routes.countFailure)
  failed(@Body() call: z.infer<typeof SubjectCall>): Promise<FailureBlock> {
    return this.limiter.failed(call.subject);
  }

  @Answers(routes.limitsState)
  state(): LimitsState {
    return this.limiter.state();
  }
}
