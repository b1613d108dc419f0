/** What a repetition costs. */
const PRICES = /-(?:cost-usd|credits)$/;

/** Headers about the account and the process at this moment. */
const MOMENTARY = /^x-svc-(?:balance-|version$|host-name$)/;

/** The headers of a response that its repetitions get, too. */
export const storedHeaders = (headers: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => {
      const isOwn = name.startsWith('x-svc-') && !MOMENTARY.test(name);
      if (!isOwn && !['content-type', 'content-disposition', 'x-content-type-options'].includes(name))
        return [];
      return [[name, PRICES.test(name) ? '0' : String(value)]];
    }),
  );
