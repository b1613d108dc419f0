import { parseUsd } from '@svc/contracts/money';
import { diem, usd } from '../text/format.js';

/** `$1,234.50` of the API's decimals; a text that is no amount stays as it is. */
export function usdOf(amount: string): string {
  const nano = parseUsd(amount);
  return nano === undefined ? amount : usd(nano);
}

/** The amounts of both currencies, without a DIEM that is zero. */
export function amountsText({ usd: dollars, diem: credit }: { usd: string; diem: string }): string {
  const nano = parseUsd(credit) ?? 0n;
  return nano === 0n ? usdOf(dollars) : `${usdOf(dollars)} + ${diem(nano)}`;
}

/** An amount in its own currency. */
export const amountText = (currency: 'USD' | 'DIEM', amount: string): string =>
  currency === 'USD' ? usdOf(amount) : diem(parseUsd(amount) ?? 0n);
