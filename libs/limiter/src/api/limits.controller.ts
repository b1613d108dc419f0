import { Body, Controller, Get, HttpCode, Post, UseGuards } from '@nestjs/common';
import {
  type Admission,
  AdmitCall,
  type FailureBlock,
  LIMITER_PATHS,
  type LimitsState,
  ReleaseCall,
  RenewCall,
  SettleCall,
  SubjectCall,
} from '@svc/contracts';
import { Valid } from '@svc/runtime';
import type { z } from 'zod';
import { InternalGate } from './internal-gate.js';
import { LeasingLimiter } from '../counting/leasing-limiter.js';

/** The port `Limiter` over HTTP. */
@Controller()
@UseGuards(InternalGate)
export class LimitsController {
  constructor(private readonly limiter: LeasingLimiter) {}

  @Post(LIMITER_PATHS.admit)
  @HttpCode(200)
  admit(@Body(new Valid(AdmitCall)) request: z.infer<typeof AdmitCall>): Promise<Admission> {
    return this.limiter.admit(request);
  }

  @Post(LIMITER_PATHS.settle)
  @HttpCode(200)
  async settle(@Body(new Valid(SettleCall)) call: z.infer<typeof SettleCall>): Promise<object> {
    await this.limiter.settle(call.request, call.admission, call.tokensUsed);
    return {};
  }

  @Post(LIMITER_PATHS.release)
  @HttpCode(200)
  async release(@Body(new Valid(ReleaseCall)) call: z.infer<typeof ReleaseCall>): Promise<object> {
    await this.limiter.release(call.request, call.admission);
    return {};
  }

  @Post(LIMITER_PATHS.renew)
  @HttpCode(200)
  async renew(@Body(new Valid(RenewCall)) call: z.infer<typeof RenewCall>): Promise<object> {
    await this.limiter.renew(call.live);
    return {};
  }

  @Post(LIMITER_PATHS.blocked)
  @HttpCode(200)
  blocked(@Body(new Valid(SubjectCall)) call: z.infer<typeof SubjectCall>): Promise<FailureBlock> {
    return this.limiter.blocked(call.subject);
  }

  @Post(LIMITER_PATHS.failed)
  @HttpCode(200)
  failed(@Body(new Valid(SubjectCall)) call: z.infer<typeof SubjectCall>): Promise<FailureBlock> {
    return this.limiter.failed(call.subject);
  }

  @Get(LIMITER_PATHS.state)
  state(): LimitsState {
    return this.limiter.state();
  }
}
