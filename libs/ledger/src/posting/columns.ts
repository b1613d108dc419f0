import type { Charge } from '@svc/contracts/messages';
import type { PostedBalances } from '@svc/hold-book';
import type { PaidLine, UsageSum, UserCharge, UserSum } from './paid-lines.js';
import type { NewTransfer } from './posting.js';

/**
 * A column of rows as a PostgreSQL array literal. Built by the client from a list, it would take three times
 * as long.
 */
type Column = string;

/** A column of arbitrary texts. */
export function text<Row>(rows: readonly Row[], value: (row: Row) => string): Column {
  return rows.length === 0 ? '{}' : `{"${rows.map((row) => escaped(value(row))).join('","')}"}`;
}

function escaped(value: string): string {
  return value.includes('"') || value.includes('\\') ? value.replaceAll(/["\\]/g, '\\$&') : value;
}

/** A column of values that need no quotes in an array: numbers, UUIDs, times and our own words. */
function plain<Row>(rows: readonly Row[], value: (row: Row) => string | number | bigint): Column {
  return `{${rows.map((row) => value(row)).join(',')}}`;
}

/** In the order of the parameters of the statement that inserts charges. */
export function chargeColumns(charges: readonly Charge[]): Column[] {
  return [
    text(charges, (charge) => charge.requestId),
    plain(charges, (charge) => charge.at),
    plain(charges, (charge) => charge.accountId),
    text(charges, (charge) => charge.keyId),
    text(charges, (charge) => charge.model),
    text(charges, (charge) => charge.backend),
    plain(charges, (charge) => charge.usage.promptTokens),
    plain(charges, (charge) => charge.usage.completionTokens),
    plain(charges, (charge) => charge.usage.cachedTokens),
    plain(charges, (charge) => charge.usage.cacheWriteTokens),
    plain(charges, (charge) => charge.usage.reasoningTokens),
    plain(charges, (charge) => charge.cost.usdNano),
    plain(charges, (charge) => charge.cost.diemNano),
    plain(charges, (charge) => charge.writeOffNano),
    plain(charges, (charge) => charge.durationMs),
  ];
}

/** In the order of the parameters of the statement that inserts lines. */
export function lineColumns(lines: readonly PaidLine[]): Column[] {
  return [
    text(lines, ({ charge }) => charge.requestId),
    plain(lines, ({ charge }) => charge.at),
    plain(lines, ({ index }) => index),
    text(lines, ({ line }) => line.sku),
    plain(lines, ({ line }) => line.units),
    plain(lines, ({ line }) => line.priceNanoPerMillion),
    plain(lines, ({ line }) => line.amountNano),
    plain(lines, ({ usdNano }) => usdNano),
    plain(lines, ({ diemNano }) => diemNano),
    text(lines, ({ line }) => line.unit),
    plain(lines, ({ line }) => line.providerNano ?? 'NULL'),
  ];
}

/** In the order of the parameters of the statement that adds to the sums of days. */
export function usageColumns(sums: readonly UsageSum[]): Column[] {
  return [
    plain(sums, (sum) => sum.accountId),
    plain(sums, (sum) => sum.day),
    text(sums, (sum) => sum.keyId),
    text(sums, (sum) => sum.model),
    text(sums, (sum) => sum.sku),
    plain(sums, (sum) => sum.units),
    plain(sums, (sum) => sum.usdNano),
    plain(sums, (sum) => sum.diemNano),
    plain(sums, (sum) => sum.usdEntries),
    plain(sums, (sum) => sum.diemEntries),
    text(sums, (sum) => sum.unit),
  ];
}

/** In the order of the parameters of the statement that notes the end users of charges. */
export function userColumns(charges: readonly UserCharge[]): Column[] {
  return [
    plain(charges, (charge) => charge.accountId),
    text(charges, (charge) => charge.endUser),
    plain(charges, (charge) => charge.at),
    text(charges, (charge) => charge.requestId),
  ];
}

/** In the order of the parameters of the statement that adds to the sums of end users. */
export function userSumColumns(sums: readonly UserSum[]): Column[] {
  return [
    plain(sums, (sum) => sum.accountId),
    plain(sums, (sum) => sum.day),
    text(sums, (sum) => sum.endUser),
    plain(sums, (sum) => sum.requests),
    plain(sums, (sum) => sum.promptTokens),
    plain(sums, (sum) => sum.completionTokens),
    plain(sums, (sum) => sum.usdNano),
    plain(sums, (sum) => sum.diemNano),
  ];
}

/** In the order of the parameters of the statement that inserts transfers. */
export function transferColumns(transfers: readonly NewTransfer[]): Column[] {
  return [
    plain(transfers, (transfer) => transfer.at),
    plain(transfers, (transfer) => transfer.accountId),
    plain(transfers, (transfer) => transfer.kind),
    plain(transfers, (transfer) => transfer.debitAccount),
    plain(transfers, (transfer) => transfer.creditAccount),
    plain(transfers, (transfer) => transfer.currency),
    plain(transfers, (transfer) => transfer.amountNano),
    text(transfers, (transfer) => transfer.reference),
  ];
}

/** In the order of the parameters of the statement that sets balances. */
export function balanceColumns(accounts: readonly PostedBalances[]): Column[] {
  return [
    plain(accounts, (account) => account.accountId),
    plain(accounts, (account) => account.balances.usdNano),
    plain(accounts, (account) => account.balances.diemNano),
    plain(accounts, (account) => account.version),
  ];
}
