import { Body, Controller, Param } from '@nestjs/common';
import { AccountLimits } from '@svc/api/keys';
import { routes } from '@svc/api';
import { Serves } from '@svc/runtime';
import { AccountLimitsStore } from '@svc/identity/accounts';
import { KeyChanges } from '../keys/key-changes.js';

/** Reads and sets an account's own limits, which replace those of its tier. */
@Controller()
export class AccountLimitsController {
  constructor(
    private readonly limits: AccountLimitsStore,
    private readonly changes: KeyChanges,
  ) {}

  @Serves(routes.getAccountLimits)
  get(@Param() { id }: { id: string }): Promise<AccountLimits> {
    return this.limits.get(id);
  }

  @Serves(routes.setAccountLimits)
  async set(@Param() { id }: { id: string }, @Body() limits: AccountLimits): Promise<AccountLimits> {
    await this.limits.get(id);
    await this.limits.replace(id, limits);
    this.changes.made(id);
    return this.limits.get(id);
  }
}
