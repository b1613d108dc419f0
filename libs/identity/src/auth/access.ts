import assert from 'node:assert/strict';
import { type ExecutionContext, Injectable, type OnModuleInit, createParamDecorator } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { encryptionHeaders, faultyHeaders } from '@svc/api/tee';
import type { Caller } from '@svc/contracts/ports';
import {
  type AccessGates,
  type GatedAccess,
  type Incoming,
  type Outgoing,
  innerSenderOf,
  isOfConsole,
  routeOf,
} from '@svc/runtime';
import type { FastifyInstance } from 'fastify';
import { Callers, authorizationOf } from './callers.js';
import { ConsoleAccess, demandAdmin } from './console-access.js';
import { OperatorTokens } from './operator-tokens.js';
import { signInOf } from '../wallets/wallets.js';

/** Parameter decorator: the authenticated caller. Only for routes that require a key. */
export const CallerOf = createParamDecorator((_: undefined, context: ExecutionContext): Caller => {
  const { caller } = context.switchToHttp().getRequest<Incoming>();
  assert(caller, 'the route lets nobody in without a key');
  return caller;
});

/** Parameter decorator: the name of the operator's token. Only for routes of operators. */
export const OperatorOf = createParamDecorator((_: undefined, context: ExecutionContext): string => {
  const { operator } = context.switchToHttp().getRequest<Incoming>();
  assert(operator !== undefined, 'the route lets nobody in without a token');
  return operator;
});

/** Authenticates requests to the routes of clients and operators. */
@Injectable()
export class GatewayAccess implements AccessGates, OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly callers: Callers,
    private readonly operators: OperatorTokens,
    private readonly console: ConsoleAccess,
  ) {}

  onModuleInit(): void {
    const fastify = this.host.httpAdapter.getInstance<FastifyInstance>();
    fastify.decorateRequest('caller', undefined);
    fastify.decorateRequest('session', undefined);
    fastify.decorateRequest('operator', undefined);
    fastify.decorateRequest('isNoted', false);
  }

  /** Refuses: AUTHENTICATION_FAILED, UNAUTHORIZED, ACCOUNT_SUSPENDED, RATE_LIMIT_EXCEEDED, UNAVAILABLE. */
  enter(access: GatedAccess, request: Incoming, reply: Outgoing): boolean | Promise<boolean> {
    const sender = innerSenderOf(request);
    if (sender) return this.callers.admitInner(sender.caller, request);
    if (access === 'console' || isOfConsole(request)) return this.console.enter(access, request, reply);
    switch (access) {
      case 'operator':
        request.operator = this.operators.demand(
          request.headers.authorization,
          routeOf(request)?.scope ?? 'read',
        );
        return true;
      case 'public':
        return this.enterPublic(request);
      case 'key':
        return this.enterKnown(request);
      case 'admin':
        return this.enterAdmin(request);
      case 'key-or-wallet':
        return withoutEncryption(request, this.enterPaying(request, reply));
    }
  }

  /**
   * Credentials are optional here, but wrong ones are refused, and failures count for the identified caller.
   */
  private enterPublic(request: Incoming): true | Promise<true> {
    const signIn = signInOf(request);
    if (signIn !== undefined) return this.callers.signedIn(signIn, request).then(() => true as const);
    if (authorizationOf(request) !== undefined) return this.enterKnown(request);
    return this.callers.unknown(request)?.then(() => true as const) ?? true;
  }

  private enterKnown(request: Incoming): true | Promise<true> {
    const known = this.callers.known(request);
    return known instanceof Promise ? known.then(() => true) : true;
  }

  private async enterAdmin(request: Incoming): Promise<true> {
    demandAdmin(await this.callers.known(request));
    return true;
  }

  /** A request without credentials gets the payment discovery. A sign-in takes precedence over a key. */
  private enterPaying(request: Incoming, reply: Outgoing): boolean | Promise<boolean> {
    const signIn = signInOf(request);
    if (signIn !== undefined) return this.callers.signedIn(signIn, request).then(() => true);
    return authorizationOf(request) === undefined
      ? this.callers.discover(request, reply).then(() => false)
      : this.enterKnown(request);
  }
}

/**
 * Refuses the headers of encrypted requests on routes that do not support them, before any of the body is
 * read. Refuses: INVALID_REQUEST.
 */
function withoutEncryption(
  request: Incoming,
  entered: boolean | Promise<boolean>,
): boolean | Promise<boolean> {
  const demanded = encryptionHeaders(request.headers);
  if (!demanded || routeOf(request)?.mayBeEncrypted) return entered;
  const [name = ''] = Object.keys(demanded);
  const refusal = faultyHeaders(`${name} works only with POST /api/v1/chat/completions`);
  return Promise.resolve(entered).then((isAdmitted) => {
    if (isAdmitted) throw refusal;
    return false;
  });
}
