import type { Charge, ChargeLine } from '@svc/contracts/messages';

/** The largest amount and balance of the books: a signed 64-bit count of nano-dollars, 9.2 billion USD. */
export const MAX_NANO = 2n ** 63n - 1n;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const MAX_TEXT = 500;
const FIRST_TIME = '2000';
const LAST_TIME = '2100';

/** Why a charge can't be posted as it is, as part of a sentence; `undefined` if it can. */
export function chargeFault(charge: Charge): string | undefined {
  if (!UUID.test(charge.accountId)) return 'its account is not a UUID';
  if (!isText(charge.requestId)) return 'its request id is not plain text';
  const { keyId, model, backend, endUser = '' } = charge;
  if (!(isText(keyId) && isText(model) && isText(backend) && isText(endUser)))
    return 'its key, model, backend or end user is not plain text';
  if (!(charge.at >= FIRST_TIME && charge.at < LAST_TIME) || Number.isNaN(Date.parse(charge.at)))
    return 'its time is not in this century';
  let linesNano = 0n;
  for (const line of charge.lines) {
    const fault = lineFault(line);
    if (fault !== undefined) return fault;
    linesNano += line.amountNano;
  }
  const { usdNano, diemNano } = charge.cost;
  if (usdNano < 0n || diemNano < 0n || charge.writeOffNano < 0n) return 'an amount is negative';
  if (linesNano !== usdNano + diemNano + charge.writeOffNano)
    return 'its lines do not sum to its cost and write-off';
  if (linesNano > MAX_NANO) return 'its amount is too large';
  return undefined;
}

function lineFault({ sku, unit, amountNano, priceNanoPerMillion, providerNano = 0n }: ChargeLine) {
  if (!isText(sku) || !isText(unit)) return 'the sku or unit of a line is not plain text';
  if (amountNano < 0n || priceNanoPerMillion < 0n || providerNano < 0n) return 'a line is negative';
  if (priceNanoPerMillion > MAX_NANO) return 'the price of a line is too large';
  if (providerNano > MAX_NANO) return 'the cost of a line at its provider is too large';
  return undefined;
}

/**
 * PostgreSQL stores any text without a zero character. The length limit keeps index entries within their
 * bound.
 */
function isText(text: string): boolean {
  return text.length <= MAX_TEXT && !text.includes('\0');
}
