import { z } from 'zod';
import {
  AdmissionReply,
  AdmitCall,
  FailureBlockReply,
  LimitsState,
  ReleaseCall,
  RenewCall,
  SettleCall,
  SubjectCall,
} from '../../ports/limiter-wire.js';
import type { RouteDefinition } from '../route/route-definition.js';

const call = {
  method: 'POST',
  tag: 'Limits',
  access: 'internal',
  status: 200,
  refusals: ['INVALID_REQUEST'],
} as const;

const Done = z.object({});

/** Where a process that serves the port `Limiter` is asked. */
export const limiterRoutes = {
  admitToLimits: {
    ...call,
    path: '/internal/v1/limits/admit',
    operationId: 'admitToLimits',
    summary: 'Takes a request from all of its limits, or from none',
    body: AdmitCall,
    reply: AdmissionReply,
  },
  settleLimits: {
    ...call,
    path: '/internal/v1/limits/settle',
    operationId: 'settleLimits',
    summary: 'Corrects what a request took by what it used',
    body: SettleCall,
    reply: Done,
  },
  releaseLimits: {
    ...call,
    path: '/internal/v1/limits/release',
    operationId: 'releaseLimits',
    summary: 'Gives back what a request took',
    body: ReleaseCall,
    reply: Done,
  },
  renewLimits: {
    ...call,
    path: '/internal/v1/limits/renew',
    operationId: 'renewLimits',
    summary: 'Keeps the places of requests under way',
    body: RenewCall,
    bodyLimitBytes: 1_048_576,
    reply: Done,
  },
  failureBlock: {
    ...call,
    path: '/internal/v1/limits/blocked',
    operationId: 'getFailureBlock',
    summary: 'Says whether a caller failed too often',
    body: SubjectCall,
    reply: FailureBlockReply,
  },
  countFailure: {
    ...call,
    path: '/internal/v1/limits/failed',
    operationId: 'countFailure',
    summary: 'Counts a failure of a caller',
    body: SubjectCall,
    reply: FailureBlockReply,
  },
  limitsState: {
    ...call,
    method: 'GET',
    path: '/internal/v1/limits/state',
    operationId: 'getLimitsState',
    summary: 'Says whether limits are counted together or alone',
    reply: LimitsState,
    refusals: [],
  },
} as const satisfies Record<string, RouteDefinition>;
