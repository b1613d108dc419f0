import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { type Balances, type Caller, Ledger } from '@svc/contracts';
import { within } from '@svc/runtime';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { USD_BALANCE_HEADER, balanceHeaders, walletHeaders } from './header-values.js';

/** An answer waits this long to be told what its account has, and then goes without. */
const KNOWN_WITHIN_MS = 250;

/**
 * Tells every holder of a key what its account can spend. An answer that was held for has it from its hold, as of
 * before the request; what costs nothing has it from here, and so has a refusal.
 */
@Injectable()
export class BalanceHeaders implements OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly ledger: Ledger,
  ) {}

  onModuleInit(): void {
    const fastify = this.host.httpAdapter.getInstance<FastifyInstance>();
    fastify.addHook('onSend', async ({ caller }, reply) => {
      if (caller && !reply.hasHeader(USD_BALANCE_HEADER)) await this.tell(caller, reply);
    });
  }

  private async tell(caller: Caller, reply: FastifyReply): Promise<void> {
    const balances = await this.available(caller.accountId);
    if (balances) reply.headers({ ...balanceHeaders(balances), ...walletHeaders(caller, balances) });
  }

  /** Nothing when the ledger can't tell, or not in time. */
  private async available(accountId: string): Promise<Balances | undefined> {
    try {
      return await within(KNOWN_WITHIN_MS, this.ledger.available(accountId));
    } catch {
      return undefined;
    }
  }
}
