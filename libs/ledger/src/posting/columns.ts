import type { Charge } from '@svc/contracts/messages';
import { int8Column, textColumn, timeColumn } from '@svc/storage';
import type { PostedBalances } from '@svc/hold-book';
import type { PaidLine, UsageSum, UserCharge, UserSum } from './paid-lines.js';
import type { NewTransfer } from './posting.js';

/** In the order of the parameters of the statement that inserts charges. */
export function chargeColumns(charges: readonly Charge[]): Buffer[] {
  return [
    textColumn(charges, (charge) => charge.requestId),
    timeColumn(charges, (charge) => charge.at),
    textColumn(charges, (charge) => charge.accountId),
    textColumn(charges, (charge) => charge.keyId),
    textColumn(charges, (charge) => charge.model),
    textColumn(charges, (charge) => charge.backend),
    int8Column(charges, (charge) => charge.usage.promptTokens),
    int8Column(charges, (charge) => charge.usage.completionTokens),
    int8Column(charges, (charge) => charge.usage.cachedTokens),
    int8Column(charges, (charge) => charge.usage.cacheWriteTokens),
    int8Column(charges, (charge) => charge.usage.reasoningTokens),
    int8Column(charges, (charge) => charge.cost.usdNano),
    int8Column(charges, (charge) => charge.cost.diemNano),
    int8Column(charges, (charge) => charge.writeOffNano),
    int8Column(charges, (charge) => charge.durationMs),
  ];
}

/** In the order of the parameters of the statement that inserts lines. */
export function lineColumns(lines: readonly PaidLine[]): Buffer[] {
  return [
    textColumn(lines, ({ charge }) => charge.requestId),
    timeColumn(lines, ({ charge }) => charge.at),
    int8Column(lines, ({ index }) => index),
    textColumn(lines, ({ line }) => line.sku),
    int8Column(lines, ({ line }) => line.units),
    int8Column(lines, ({ line }) => line.priceNanoPerMillion),
    int8Column(lines, ({ line }) => line.amountNano),
    int8Column(lines, ({ usdNano }) => usdNano),
    int8Column(lines, ({ diemNano }) => diemNano),
    textColumn(lines, ({ line }) => line.unit),
    int8Column(lines, ({ line }) => line.providerNano ?? null),
  ];
}

/** In the order of the parameters of the statement that adds to the sums of days. */
export function usageColumns(sums: readonly UsageSum[]): Buffer[] {
  return [
    textColumn(sums, (sum) => sum.accountId),
    textColumn(sums, (sum) => sum.day),
    textColumn(sums, (sum) => sum.keyId),
    textColumn(sums, (sum) => sum.model),
    textColumn(sums, (sum) => sum.sku),
    int8Column(sums, (sum) => sum.units),
    int8Column(sums, (sum) => sum.usdNano),
    int8Column(sums, (sum) => sum.diemNano),
    int8Column(sums, (sum) => sum.usdEntries),
    int8Column(sums, (sum) => sum.diemEntries),
    textColumn(sums, (sum) => sum.unit),
  ];
}

/** In the order of the parameters of the statement that notes the end users of charges. */
export function userColumns(charges: readonly UserCharge[]): Buffer[] {
  return [
    textColumn(charges, (charge) => charge.accountId),
    textColumn(charges, (charge) => charge.endUser),
    timeColumn(charges, (charge) => charge.at),
    textColumn(charges, (charge) => charge.requestId),
  ];
}

/** In the order of the parameters of the statement that adds to the sums of end users. */
export function userSumColumns(sums: readonly UserSum[]): Buffer[] {
  return [
    textColumn(sums, (sum) => sum.accountId),
    textColumn(sums, (sum) => sum.day),
    textColumn(sums, (sum) => sum.endUser),
    int8Column(sums, (sum) => sum.requests),
    int8Column(sums, (sum) => sum.promptTokens),
    int8Column(sums, (sum) => sum.completionTokens),
    int8Column(sums, (sum) => sum.usdNano),
    int8Column(sums, (sum) => sum.diemNano),
  ];
}

/** In the order of the parameters of the statement that inserts transfers. */
export function transferColumns(transfers: readonly NewTransfer[]): Buffer[] {
  return [
    timeColumn(transfers, (transfer) => transfer.at),
    textColumn(transfers, (transfer) => transfer.accountId),
    textColumn(transfers, (transfer) => transfer.kind),
    textColumn(transfers, (transfer) => transfer.debitAccount),
    textColumn(transfers, (transfer) => transfer.creditAccount),
    textColumn(transfers, (transfer) => transfer.currency),
    int8Column(transfers, (transfer) => transfer.amountNano),
    textColumn(transfers, (transfer) => transfer.reference),
  ];
}

/** In the order of the parameters of the statement that sets balances. */
export function balanceColumns(accounts: readonly PostedBalances[]): Buffer[] {
  return [
    textColumn(accounts, (account) => account.accountId),
    int8Column(accounts, (account) => account.balances.usdNano),
    int8Column(accounts, (account) => account.balances.diemNano),
    int8Column(accounts, (account) => account.version),
  ];
}
