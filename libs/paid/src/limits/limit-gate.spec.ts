import {
  type Admission,
  type AdmitRequest,
  type Caller,
  type Limit,
  DAY_MS,
  MINUTE_MS,
} from '@svc/contracts/ports';
import { expect, it } from 'vitest';
import type { GatewaySettings } from '../gateway.config.js';
import type { FailureBlocks, LimitReports } from '@svc/identity/failures';
import { LimitGate } from './limit-gate.js';

it.each([
  { unit: 'requests', windowMs: MINUTE_MS, type: 'RPM', period: 'minute' },
  { unit: 'tokens', windowMs: MINUTE_MS, type: 'TPM', period: 'minute' },
  { unit: 'requests', windowMs: DAY_MS, type: 'RPD', period: 'day' },
  { unit: 'tokens', windowMs: DAY_MS, type: 'TPD', period: 'day' },
] as const)('names a limit of $unit per $period $type in the log', ({ unit, windowMs, type, period }) => {
  const limit: Limit = { scope: 'user', unit, windowMs, max: 9 };
  const request: AdmitRequest = {
    requestId: 'request',
    accountId: 'account',
    keyId: 'key',
    resource: { kind: 'model', name: 'small' },
    limits: [limit],
    amounts: { requests: 1 },
    subject: 'key:key',
  };
  const admission: Admission = {
    admitted: false,
    refusedBy: { of: 'limit', limit, resetAtMs: 0 },
    tightest: {},
    endsAtMs: [],
    scope: 'user',
  };
  const logged: unknown[] = [];
  const reports = { add: (entry: unknown) => logged.push(entry) } as unknown as LimitReports;
  const gate = new LimitGate({} as FailureBlocks, reports, {} as GatewaySettings);
  const { message } = gate.refusal({} as Caller, request, admission);
  expect(logged).toMatchObject([{ type }]);
  expect(message).toBe(
    `Rate limit exceeded: 9 ${unit} per ${period} for your account, for small. Try again in 1 s.`,
  );
});
