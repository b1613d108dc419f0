import { z } from 'zod';
import { unitOf } from '../money/units.js';

/** How the arguments and the result of a method cross a wire. */
export interface MethodWire<Arguments, Result> {
  readonly arguments: z.ZodType<Arguments>;
  readonly result: z.ZodType<Result>;
  /** Both are written by `plainText`, which gives the same result as `z.encode`, many times faster. */
  readonly isPlain?: true;
}

/**
 * How a port crosses a wire: a codec for each method's arguments and result. `z.encode` turns a value into
 * JSON and `z.decode` checks JSON and turns it into the value. Errors cross by `encodeProblem` and
 * `decodeProblem`.
 */
export type PortWire<Port> = {
  readonly [Name in keyof Port]: Port[Name] extends (...values: infer Arguments) => infer Result
    ? MethodWire<Arguments, Awaited<Result>>
    : never;
};

/** A port in another process: each call returns a promise. */
export type RemotePort<Port> = {
  readonly [Name in keyof Port]: Port[Name] extends (...values: infer Arguments) => infer Result
    ? (...values: Arguments) => Promise<Awaited<Result>>
    : never;
};

/** The most digits of an amount: enough for a 64-bit integer, and for sums of them. */
const DIGITS = 24;

/** An integer as a decimal string, since JSON has no `bigint`. */
const wholeNumber = (pattern: RegExp): z.ZodType<bigint, string> =>
  z.codec(z.string().regex(pattern), z.bigint(), { decode: BigInt, encode: String });

/** A `bigint` that is not negative, such as an amount of money. */
export const Whole = wholeNumber(new RegExp(`^\\d{1,${DIGITS}}$`));

/** A `bigint` that may be negative, such as a difference. */
export const SignedWhole = wholeNumber(new RegExp(`^-?\\d{1,${DIGITS}}$`));

/** A time as ISO 8601 in UTC. */
export const Time: z.ZodType<Date, string> = z.codec(z.iso.datetime(), z.date(), {
  decode: (text) => new Date(text),
  encode: (date) => date.toISOString(),
});

/**
 * The JSON of a value made of plain JSON values and bigints, which become strings. `undefined` becomes null.
 */
export function plainText(value: unknown): string {
  return JSON.stringify(plain(value) ?? null);
}

/** A copy with strings for bigints: JSON.stringify is much slower with a replacer or `toJSON`. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(plain);
  const copy: Record<string, unknown> = {};
  for (const name of Object.keys(value)) copy[name] = plain((value as Record<string, unknown>)[name]);
  return copy;
}

/** The JSON of a method's arguments, or of its result. */
export function wireText(
  { isPlain }: Pick<MethodWire<never, unknown>, 'isPlain'>,
  schema: z.ZodType,
  value: unknown,
): string {
  return isPlain ? plainText(value) : JSON.stringify(z.encode(schema, value) ?? null);
}

/** The result of a method that returns nothing. */
export const Nothing: z.ZodType<void, null> = z.codec(z.null(), z.void(), {
  decode: () => undefined,
  encode: () => null,
});

/** Amounts by currency. */
export const BalancesOnWire = z.object({ usdNano: Whole, diemNano: Whole });

/** An id or a name. */
export const Name = z.string().max(300);

export const Count = z.int().nonnegative();

const LineOnWire = z.looseObject({ sku: Name, unit: Name.optional() });

/** A line of a charge. Ledgers of the previous release leave out its unit. */
export const withUnit = <Line>(line: z.ZodType<Line>): z.ZodType<Line> =>
  z.codec(LineOnWire, line, {
    decode: (text) => ({ ...text, unit: unitOf(text) }),
    encode: (text) => text as z.output<typeof LineOnWire>,
  });
