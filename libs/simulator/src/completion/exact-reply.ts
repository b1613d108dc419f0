const VERB = '(?:reply|respond|answer|say|output|return|write|print|repeat)';
const HOW = '(?:exactly|only|just|verbatim|precisely)';
const WHAT =
  '(?:\\s+(?:with|this|that|nothing but|one word|the (?:following|exact|single)|(?:the )?(?:word|words|text|string|phrase|sentence))\\b)*';

/** "Reply exactly: X", "Say exactly X", "Respond with only the word X". */
const EXACTLY = new RegExp(
  `\\b${VERB}\\s+(?:back\\s+)?(?:to me\\s+)?(?:with\\s+)?${HOW}${WHAT}\\s*(:)?\\s*([^]+)$`,
  'i',
);
/** "Reply with the word X", "Respond with: X", "Answer with 'X'"; not "Reply with a poem". */
const WITH = new RegExp(
  `\\b${VERB}\\s+with(?:(?=\\s*:)|(?=\\s+["'\`“])|\\s+the\\s+(?:word|words|text|phrase)\\b)\\s*(:)?\\s*([^]+)$`,
  'i',
);
/** "Repeat after me: X", "Echo: X". */
const AFTER_ME = /\b(?:repeat after me|repeat the following|echo(?: back)?)\s*(:)\s*([^]+)$/i;
/** The whole message is "Say X". */
const SAY = /^\s*say\s+(?:that\s+)?([^\n]{1,200})$/i;

const QUOTED = /^(?:"([^"]*)"|'([^']*)'(?!\w)|`([^`]*)`|“([^”]*)”)/;
const NOTHING_ELSE = /[,.;]?\s*(?:and|with)?\s*(?:nothing else|nothing more|no other text)\s*[.!]?\s*$/i;

const ENDING_LENGTH = 100;

const SUM =
  /\b(?:what(?:'s| is)|calculate|compute)\s+(-?\d{1,9})\s*([-+*x×/]|plus|minus|times)\s*(-?\d{1,9})/i;
const COUNT = /\bcount\s+(?:from\s+)?(\d{1,4})\s+to\s+(\d{1,4})\b/i;
const CAPITAL = /\bcapital of ([a-z]+(?: [A-Z][a-z]+)?)/i;
const CAPITALS: { readonly [country: string]: string } = {
  france: 'Paris',
  germany: 'Berlin',
  italy: 'Rome',
  spain: 'Madrid',
  japan: 'Tokyo',
  england: 'London',
  'united kingdom': 'London',
};

/**
 * The reply that a user's message dictates, or that common client test suites expect; undefined if there is
 * none.
 */
export function exactReply(message: string): string | undefined {
  const text = message.trim();
  if (text === '' || text.length > 100_000) return undefined;
  for (const pattern of [EXACTLY, AFTER_ME, WITH]) {
    const match = pattern.exec(text);
    const wanted = match?.[2];
    if (wanted !== undefined) return dictated(wanted, match?.[1] === ':');
  }
  const wish = SAY.exec(text)?.[1];
  if (wish !== undefined) return spoken(wish);
  return known(text);
}

function dictated(wanted: string, hasColon: boolean): string {
  const quoted = unquote(wanted);
  if (quoted !== undefined) return quoted;
  // Only the end is searched, since the expression backtracks over white space.
  const end = Math.max(wanted.length - ENDING_LENGTH, 0);
  const rest = (wanted.slice(0, end) + wanted.slice(end).replace(NOTHING_ELSE, '')).trim();
  return hasColon ? rest : rest.replace(/[.!]$/, '');
}

function spoken(wish: string): string {
  const quoted = unquote(wish);
  if (quoted !== undefined) return quoted;
  const rest = wish
    .replace(NOTHING_ELSE, '')
    .replace(/[.!]\s*$/, '')
    .trim();
  return rest.charAt(0).toUpperCase() + rest.slice(1);
}

function unquote(text: string): string | undefined {
  const match = QUOTED.exec(text);
  return match === null ? undefined : match.slice(1).find((group) => group !== undefined);
}

function known(text: string): string | undefined {
  const sum = SUM.exec(text);
  if (sum !== null) return calculate(Number(sum[1]), sum[2] ?? '', Number(sum[3]));
  const count = COUNT.exec(text);
  if (count !== null) return countUp(Number(count[1]), Number(count[2]));
  const country = CAPITAL.exec(text)?.[1];
  const capital = country === undefined ? undefined : CAPITALS[country.toLowerCase()];
  return capital === undefined ? undefined : `The capital of ${country} is ${capital}.`;
}

function calculate(left: number, operator: string, right: number): string {
  switch (operator.toLowerCase()) {
    case '+':
    case 'plus':
      return String(left + right);
    case '-':
    case 'minus':
      return String(left - right);
    case '/':
      return right === 0 ? 'undefined' : String(left / right);
    default:
      return String(left * right);
  }
}

function countUp(from: number, to: number): string {
  if (to < from) return String(from);
  return Array.from({ length: to - from + 1 }, (_, i) => from + i).join(', ');
}
