import assert from 'node:assert/strict';
import { type ExecutionContext, Injectable, type OnModuleInit, createParamDecorator } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { type Caller, Problem } from '@svc/contracts';
import { type AccessGates, type GatedAccess, SharedSecret } from '@svc/runtime';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Callers } from './callers.js';
import { signInOf } from '../wallets/wallets.js';

/** Gives a method of a route that needs a key who asks. */
export const CallerOf = createParamDecorator((_: undefined, context: ExecutionContext): Caller => {
  const { caller } = context.switchToHttp().getRequest<FastifyRequest>();
  assert(caller, 'the route lets nobody in without a key');
  return caller;
});

/** The operator's secret. */
export class OperatorToken extends SharedSecret {}

/** Who may use the routes of clients and of the operator. */
@Injectable()
export class GatewayAccess implements AccessGates, OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly callers: Callers,
    private readonly operator: OperatorToken,
  ) {}

  onModuleInit(): void {
    this.host.httpAdapter.getInstance<FastifyInstance>().decorateRequest('caller', undefined);
  }

  /** Refuses: AUTHENTICATION_FAILED, RATE_LIMIT_EXCEEDED, UNAVAILABLE. */
  enter(access: GatedAccess, request: FastifyRequest, reply: FastifyReply): boolean | Promise<boolean> {
    switch (access) {
      case 'operator':
        this.operator.demand(request, 'The operator token is missing or wrong.');
        return true;
      case 'public':
        return request.headers.authorization === undefined
          ? this.enterUnknown(request)
          : this.enterKnown(request);
      case 'key':
        return this.enterKnown(request);
      case 'admin':
        return this.enterAdmin(request);
      case 'key-or-wallet':
        return this.enterPaying(request, reply);
    }
  }

  private async enterUnknown(request: FastifyRequest): Promise<true> {
    await this.callers.unknown(request);
    return true;
  }

  private enterKnown(request: FastifyRequest): true | Promise<true> {
    const known = this.callers.known(request);
    return known instanceof Promise ? known.then(() => true) : true;
  }

  private async enterAdmin(request: FastifyRequest): Promise<true> {
    const { keyType } = await this.callers.known(request);
    if (keyType !== 'ADMIN')
      throw new Problem('AUTHENTICATION_FAILED', { message: 'Admin API key required' });
    return true;
  }

  /** Who shows nothing hears how to pay. Where both are shown the wallet counts. */
  private enterPaying(request: FastifyRequest, reply: FastifyReply): boolean | Promise<boolean> {
    const signIn = signInOf(request);
    if (signIn !== undefined) return this.callers.signedIn(signIn, request).then(() => true);
    return request.headers.authorization === undefined
      ? this.callers.discover(request, reply).then(() => false)
      : this.enterKnown(request);
  }
}
