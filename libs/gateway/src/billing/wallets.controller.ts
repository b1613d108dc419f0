import { Controller, Param, Query } from '@nestjs/common';
import { Books, type Caller, walletName } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import { TOP_UP_LEAST_USD, WALLET_FLOOR_NANO, totalNano, usdNumber } from '@svc/contracts/money';
import type { TransactionQuery, WalletBalance, WalletParams, WalletTransactions } from '@svc/api/wallets';
import { routes } from '@svc/api';
import { Serves } from '@svc/runtime';
import { CallerOf } from '@svc/identity/auth';
import { SUGGESTED_USD } from '@svc/identity/wallets';
import { WalletHistory } from '@svc/paid/credit';

/** Shows a wallet its own balance and transactions. */
@Controller()
export class WalletsController {
  constructor(
    private readonly books: Books,
    private readonly history: WalletHistory,
  ) {}

  @Serves(routes.walletBalance)
  async balance(@Param() params: WalletParams, @CallerOf() caller: Caller): Promise<WalletBalance> {
    const walletAddress = ownOf(params, caller);
    const balances = await this.books.balances(caller.accountId);
    return {
      success: true,
      data: {
        walletAddress,
        balanceUsd: usdNumber(balances.usdNano),
        diemBalanceUsd: usdNumber(balances.diemNano),
        canConsume: totalNano(balances) >= WALLET_FLOOR_NANO,
        minimumTopUpUsd: TOP_UP_LEAST_USD,
        suggestedTopUpUsd: SUGGESTED_USD,
      },
    };
  }

  @Serves(routes.walletTransactions)
  async transactions(
    @Param() params: WalletParams,
    @Query() { limit, offset }: TransactionQuery,
    @CallerOf() caller: Caller,
  ): Promise<WalletTransactions> {
    const walletAddress = ownOf(params, caller);
    const { balanceNano, transactions, hasMore } = await this.history.read(caller.accountId, {
      limit,
      offset,
    });
    return {
      success: true,
      data: {
        walletAddress,
        currentBalance: usdNumber(balanceNano),
        transactions: [...transactions],
        pagination: { limit, offset, hasMore },
      },
    };
  }
}

/** Refuses: X402_WALLET_MISMATCH, unless the caller is this wallet. */
function ownOf({ walletAddress }: WalletParams, { wallet }: Caller): string {
  if (wallet === undefined || walletName(walletAddress) !== wallet) throw new Problem('X402_WALLET_MISMATCH');
  return wallet;
}
