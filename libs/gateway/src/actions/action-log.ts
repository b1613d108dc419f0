import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Problem } from '@svc/contracts/problems';
import { RootLogger, routeOf } from '@svc/runtime';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ActionStore } from './action.store.js';

/**
 * Logs each action of an operator before it begins, so that nothing happens without a record, and its result
 * before the response is sent. An action that cannot be logged is refused.
 */
@Injectable()
export class ActionLog implements OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly actions: ActionStore,
    private readonly logger: RootLogger,
  ) {}

  onModuleInit(): void {
    const fastify = this.host.httpAdapter.getInstance<FastifyInstance>();
    // Runs after validation, which is an earlier hook.
    fastify.addHook('preHandler', async (request) => {
      if (isAction(request)) await this.begin(request);
    });
    fastify.addHook('onSend', async (request, reply) => {
      if (isAction(request) && request.isNoted) await this.end(request, reply.statusCode);
    });
  }

  private async begin(request: FastifyRequest): Promise<void> {
    const { operator: token = '', id: requestId, body: input } = request;
    const target = targetOf(request.params as Readonly<Record<string, string>>);
    const action = routeOf(request)?.operationId ?? '';
    try {
      await this.actions.begin({ token, action, target, requestId, input });
      request.isNoted = true;
    } catch (cause) {
      throw new Problem('UNAVAILABLE', { cause });
    }
  }

  /** The response is sent even if its status cannot be logged, since the action has happened. */
  private async end({ id, record }: FastifyRequest, status: number): Promise<void> {
    try {
      await this.actions.end(id, status, record.problem?.code);
    } catch (error) {
      this.logger.log.warn(
        { id, status, reason: String(error) },
        'the result of an operator action was not recorded',
      );
    }
  }
}

/** The id in the path; of a backend, its model and name. */
function targetOf({ id, model, name }: Readonly<Record<string, string>>): string | null {
  if (model !== undefined && name !== undefined) return `${model} ${name}`;
  return id ?? null;
}

/**
 * Whether an operator's request changes something for accounts. Requests that change only this process, its
 * log level, appear in its own log and must work while PostgreSQL is down.
 */
const isAction = (request: FastifyRequest): boolean =>
  request.operator !== undefined && request.method !== 'GET' && routeOf(request)?.access !== 'process';
