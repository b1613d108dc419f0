import { Body, Controller, Param } from '@nestjs/common';
import { Books, type Stake } from '@svc/contracts/ports';
import { NewStake, type StakeView, parseTokens } from '@svc/api/operator';
import { formatUsd } from '@svc/contracts/money';
import { routes } from '@svc/api';
import { Serves } from '@svc/runtime';
import { AccountStore } from '@svc/identity/accounts';
import { nextEpochBegins } from '@svc/paid/limits';

/** Reads and sets the stakes of accounts. */
@Controller()
export class StakesController {
  constructor(
    private readonly accounts: AccountStore,
    private readonly books: Books,
  ) {}

  @Serves(routes.getStake)
  async get(@Param() { id }: { id: string }): Promise<StakeView> {
    await this.accounts.get(id);
    return stakeView(await this.books.stake(id));
  }

  @Serves(routes.setStake)
  async set(@Param() { id }: { id: string }, @Body() { tokens }: NewStake): Promise<StakeView> {
    await this.accounts.get(id);
    return stakeView(await this.books.setStake(id, parseTokens(tokens) ?? 0n));
  }
}

function stakeView({ accountId, tokensNano, grantedOn }: Stake): StakeView {
  const tokens = formatUsd(tokensNano);
  return {
    accountId,
    tokens,
    diemEpochAllocation: tokens,
    grantedOn: grantedOn ?? null,
    nextEpochBegins: nextEpochBegins(),
  };
}
