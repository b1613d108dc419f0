import { type DynamicModule, Module } from '@nestjs/common';
import { Problem } from '@svc/contracts/problems';
import type { FastifyRequest } from 'fastify';
import { AccessGates, type GatedAccess } from '../src/http/access.js';
import { InternalToken, bearer } from '../src/http/secrets.js';

export const METRICS = 'token-of-the-tests-that-reads-metrics-only';
export const OPERATOR = 'token-of-the-tests-of-the-operator-himself';
export const INTERNAL = 'token-of-the-tests-of-the-whole-deployment';

class Gates implements AccessGates {
  enter(access: GatedAccess, request: FastifyRequest): boolean {
    if (access !== 'operator' || bearer(request.headers.authorization) !== OPERATOR)
      throw new Problem('AUTHENTICATION_FAILED');
    return true;
  }
}

/** A process with only the parts that every process has. */
@Module({})
export class Process {
  static with(...providers: NonNullable<DynamicModule['providers']>): DynamicModule {
    return { module: Process, providers };
  }
}

/** Admits only the operator. */
export const gates = { provide: AccessGates, useClass: Gates };
export const internal = { provide: InternalToken, useValue: new InternalToken(INTERNAL) };
