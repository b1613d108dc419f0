import { Body, Controller, Req } from '@nestjs/common';
import { type NewApiKeyReply, WalletApiKey, type WalletKeyToken } from '@svc/api/keys';
import { routes } from '@svc/api';
import { MINUTE_MS } from '@svc/contracts/ports';
import { NetworkLimit } from '@svc/paid/limits';
import { Serves } from '@svc/runtime';
import type { FastifyRequest } from 'fastify';
import { newApiKeyView } from './api-key-views.js';
import { WalletKeys } from './wallet-keys.js';

const { walletKeyToken, createWalletKey } = routes;

/** For each network. The same number of keys as an account may create. */
const BOUND = { max: 20, windowMs: MINUTE_MS };

/** Keys for wallets. */
@Controller()
export class WalletKeysController {
  constructor(
    private readonly keys: WalletKeys,
    private readonly limit: NetworkLimit,
  ) {}

  @Serves(walletKeyToken)
  async token(@Req() request: FastifyRequest): Promise<WalletKeyToken> {
    await this.limit.take(request, `GET ${walletKeyToken.path}`, BOUND);
    return { success: true, data: { token: await this.keys.token(request) } };
  }

  @Serves(createWalletKey)
  async create(@Req() request: FastifyRequest, @Body() body: WalletApiKey): Promise<NewApiKeyReply> {
    await this.limit.take(request, `POST ${createWalletKey.path}`, BOUND);
    return { success: true, data: newApiKeyView(await this.keys.create(body, request)) };
  }
}
