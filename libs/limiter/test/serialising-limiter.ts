import {
  type Admission,
  AdmissionReply,
  AdmitCall,
  type AdmitRequest,
  type FailureBlock,
  FailureBlockReply,
  ReleaseCall,
  RenewCall,
  SettleCall,
  SubjectCall,
} from '@svc/contracts';
import { LeasingLimiter, type UnderWay } from '../src/counting/leasing-limiter.js';
import type { z } from 'zod';

/** A limiter whose every value crosses as JSON, in one process: what is not in the wire's schemas is lost here. */
export class SerialisingLimiter extends LeasingLimiter {
  constructor(private readonly limiter: LeasingLimiter) {
    super();
  }

  override async admit(request: AdmitRequest): Promise<Admission> {
    return crossed(AdmissionReply, await this.limiter.admit(crossed(AdmitCall, request)));
  }

  override settle(request: AdmitRequest, admission: Admission, tokensUsed: number): Promise<void> {
    const call = crossed(SettleCall, { request, admission, tokensUsed });
    return this.limiter.settle(call.request, call.admission, call.tokensUsed);
  }

  override release(request: AdmitRequest, admission: Admission): Promise<void> {
    const call = crossed(ReleaseCall, { request, admission });
    return this.limiter.release(call.request, call.admission);
  }

  override renew(live: readonly UnderWay[]): Promise<void> {
    return this.limiter.renew(crossed(RenewCall, { live }).live);
  }

  override async blocked(subject: string): Promise<FailureBlock> {
    return crossed(FailureBlockReply, await this.limiter.blocked(crossed(SubjectCall, { subject }).subject));
  }

  override async failed(subject: string): Promise<FailureBlock> {
    return crossed(FailureBlockReply, await this.limiter.failed(crossed(SubjectCall, { subject }).subject));
  }

  override state(): ReturnType<LeasingLimiter['state']> {
    return this.limiter.state();
  }
}

const crossed = <Schema extends z.ZodType>(schema: Schema, value: unknown): z.infer<Schema> =>
  schema.parse(JSON.parse(JSON.stringify(value)));
