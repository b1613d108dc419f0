import { Body, Controller, Param, UseGuards } from '@nestjs/common';
import { AccountLimits, routes } from '@svc/contracts';
import { Answers, Valid } from '@svc/runtime';
import { AccountLimitsStore } from './account-limits.store.js';
import { KeyChanges } from '../keys/key-changes.js';
import { OperatorGate } from '../auth/operator-gate.js';

/** What the operator sets for an account in place of the limits of its tier. */
@Controller()
@UseGuards(OperatorGate)
export class AccountLimitsController {
  constructor(
    private readonly limits: AccountLimitsStore,
    private readonly changes: KeyChanges,
  ) {}

  @Answers(routes.getAccountLimits)
  get(@Param(new Valid(routes.getAccountLimits.params)) { id }: { id: string }): Promise<AccountLimits> {
    return this.limits.get(id);
  }

  @Answers(routes.setAccountLimits)
  async set(
    @Param(new Valid(routes.setAccountLimits.params)) { id }: { id: string },
    @Body(new Valid(AccountLimits)) limits: AccountLimits,
  ): Promise<AccountLimits> {
    await this.limits.get(id);
    await this.limits.replace(id, limits);
    await this.changes.announce({ accountId: id });
    return this.limits.get(id);
  }
}
