import { Body, Controller, Param } from '@nestjs/common';
import { type Account, AccountTermsChange, NewSuspension } from '@svc/api/operator';
import { routes } from '@svc/api';
import { Serves } from '@svc/runtime';
import { AccountStore } from '@svc/identity/accounts';
import { KeyChanges } from '../keys/key-changes.js';

/** Changes, suspends and resumes accounts. Every gateway applies it as quickly as a change of their keys. */
@Controller()
export class AccountTermsController {
  constructor(
    private readonly accounts: AccountStore,
    private readonly changes: KeyChanges,
  ) {}

  @Serves(routes.changeAccount)
  async change(@Param() { id }: { id: string }, @Body() change: AccountTermsChange): Promise<Account> {
    const account = await this.accounts.change(id, change);
    this.changes.made(account.id);
    return account;
  }

  @Serves(routes.suspendAccount)
  async suspend(@Param() { id }: { id: string }, @Body() { reason }: NewSuspension): Promise<Account> {
    const account = await this.accounts.suspend(id, reason);
    this.changes.made(account.id);
    return account;
  }

  @Serves(routes.resumeAccount)
  async resume(@Param() { id }: { id: string }): Promise<Account> {
    const account = await this.accounts.resume(id);
    this.changes.made(account.id);
    return account;
  }
}
