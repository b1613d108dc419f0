import { Body, Controller, Param, Query, Req } from '@nestjs/common';
import {
  ApiKeyChange,
  type ApiKeyList,
  ApiKeyQuery,
  type ApiKeyReply,
  ApiKeyRotation,
  type ChangedApiKeyReply,
  NewApiKey,
  type NewApiKeyReply,
  type RevokedApiKeyReply,
} from '@svc/api/keys';
import { type Caller, isOfKey } from '@svc/contracts/ports';
import { invalidRequest } from '@svc/contracts/problems';
import { routes } from '@svc/api';
import { Serves } from '@svc/runtime';
import type { FastifyRequest } from 'fastify';
import { apiKeyView, newApiKeyView, plainApiKeyView } from './api-key-views.js';
import { ApiKeys } from './api-keys.js';
import { demandFreshProof } from './fresh-proof.js';
import { CallerOf } from '@svc/identity/auth';
import { KeyCreationLimit } from './key-creation-limit.js';

/** Manages an account's keys on behalf of a holder of one of its ADMIN keys. */
@Controller()
export class ApiKeysController {
  constructor(
    private readonly keys: ApiKeys,
    private readonly limit: KeyCreationLimit,
  ) {}

  @Serves(routes.listApiKeys)
  async list(@CallerOf() { accountId }: Caller): Promise<ApiKeyList> {
    const keys = await this.keys.list(accountId);
    return { object: 'list', data: keys.map(({ key, spend }) => apiKeyView(key, spend)) };
  }

  @Serves(routes.createApiKey)
  async create(
    @CallerOf() caller: Caller,
    @Req() { id: requestId, session }: FastifyRequest,
    @Body() request: NewApiKey,
  ): Promise<NewApiKeyReply> {
    if (request.apiKeyType === 'ADMIN') demandFreshProof(session);
    await this.limit.take(caller, requestId);
    return { success: true, data: newApiKeyView(await this.keys.create(caller.accountId, request, caller)) };
  }

  @Serves(routes.changeApiKey)
  async change(
    @CallerOf() caller: Caller,
    @Req() { session }: FastifyRequest,
    @Body() request: ApiKeyChange,
  ): Promise<ChangedApiKeyReply> {
    if (session && (await this.keys.wouldRaise(caller.accountId, request))) demandFreshProof(session);
    return {
      success: true,
      data: plainApiKeyView(await this.keys.change(caller.accountId, request, caller)),
    };
  }

  @Serves(routes.rotateApiKey)
  async rotate(
    @CallerOf() caller: Caller,
    @Req() { id: requestId, session, params }: FastifyRequest<{ Params: { id: string } }>,
    @Body() { overlapSeconds }: ApiKeyRotation,
  ): Promise<NewApiKeyReply> {
    demandFreshProof(session);
    await this.limit.take(caller, requestId);
    return { success: true, data: newApiKeyView(await this.keys.rotate(caller, params.id, overlapSeconds)) };
  }

  @Serves(routes.revokeApiKey)
  async revoke(
    @CallerOf() { accountId, keyId }: Caller,
    @Query() query: ApiKeyQuery,
    @Body() body: ApiKeyQuery | undefined,
  ): Promise<RevokedApiKeyReply> {
    const id = query.id ?? body?.id;
    if (id === undefined)
      throw invalidRequest([{ path: ['id'], message: 'must be set in the query or in the body' }]);
    await this.keys.revoke(accountId, id, isOfKey(keyId) ? `key:${keyId}` : 'console');
    return { success: true };
  }

  @Serves(routes.getApiKey)
  async get(@CallerOf() { accountId }: Caller, @Param() { id }: { id: string }): Promise<ApiKeyReply> {
    const { key, spend } = await this.keys.get(accountId, id);
    return { data: apiKeyView(key, spend) };
  }
}
