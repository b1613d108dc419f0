import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type Balances, NO_MONEY } from '@svc/contracts/money';
import { type Caller, Ledger } from '@svc/contracts/ports';
import { RequestSteps, within, type Outgoing } from '@svc/runtime';
import { USD_BALANCE_HEADER, addBalance, walletHeaders } from './header-values.js';

/** How long a response waits for its account's balance before it is sent without. */
const KNOWN_WITHIN_MS = 250;

/**
 * Adds the account's balance to every response of a key. A response with a hold has the balance from its
 * hold, as of before the request; for free requests and refusals it is looked up here.
 */
@Injectable()
export class BalanceHeaders implements OnModuleInit {
  constructor(
    private readonly steps: RequestSteps,
    private readonly ledger: Ledger,
  ) {}

  onModuleInit(): void {
    this.steps.beforeSend(async ({ caller }, reply) => {
      if (caller && !reply.hasHeader(USD_BALANCE_HEADER)) await this.addTo(caller, reply);
    });
  }

  private async addTo(caller: Caller, reply: Outgoing): Promise<void> {
    const balances = await this.available(caller.accountId);
    if (!balances) return;
    const headers = { ...walletHeaders(caller, balances, NO_MONEY) };
    addBalance(headers, balances);
    reply.headers(headers);
  }

  /** Undefined if the ledger fails or does not respond in time. */
  private async available(accountId: string): Promise<Balances | undefined> {
    try {
      return await within(KNOWN_WITHIN_MS, this.ledger.available(accountId));
    } catch {
      return undefined;
    }
  }
}
