import { JsonBounds, type JsonLimits } from './json-bounds.js';

/**
 * The limits of a request body, and of any JSON text from outside that has no others. Deeper than any tool
 * schema, and far from overflowing the stack of a recursion; more members than a conversation of five
 * thousand messages in parts.
 */
export const JSON_LIMITS: JsonLimits = { levels: 500, members: 40_000 };

/**
 * The limits of a model server's response: more members than a long response with the top log probabilities
 * of each token, or than the vectors of many texts.
 */
export const RESPONSE_JSON_LIMITS: JsonLimits = { ...JSON_LIMITS, members: 2_000_000 };

/**
 * Parses JSON texts from outside. Levels and members are counted before parsing, since a parser pays for each
 * of them; the limit of the members is for all texts of a reader together.
 */
export class JsonReader {
  private left: number;

  constructor(private readonly limits: JsonLimits = JSON_LIMITS) {
    this.left = limits.members;
  }

  /**
   * Throws SyntaxError if the text is no JSON or exceeds the limits. The message does not quote the text, as
   * that of JSON.parse does.
   */
  read(text: string | Buffer): unknown {
    const bytes = typeof text === 'string' ? Buffer.from(text) : text;
    const bounds = new JsonBounds({ levels: this.limits.levels, members: this.left });
    const exceeded = bounds.exceededBy(bytes);
    if (exceeded) throw new SyntaxError(`the JSON has too many ${exceeded}`);
    this.left -= bounds.memberCount;
    return parsed(text.toString());
  }
}

/** Parses one JSON text from outside. Throws like `JsonReader.read`. */
export function boundedJson(text: string, limits: JsonLimits = JSON_LIMITS): unknown {
  // Each level takes two characters at least, each member one, so short texts need not be counted.
  return text.length <= Math.min(2 * limits.levels, limits.members)
    ? parsed(text)
    : new JsonReader(limits).read(text);
}

/** The same; `undefined` in place of an error. */
export function jsonOrUndefined(text: string, limits: JsonLimits = JSON_LIMITS): unknown {
  try {
    return boundedJson(text, limits);
  } catch {
    return undefined;
  }
}

/** The string that JSON writes as these characters between two quotes. Throws SyntaxError. */
export function unescapedJson(characters: string): string {
  // Whatever follows an unescaped quote is a syntax error, so nothing is nested.
  return parsed(`"${characters}"`) as string;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new SyntaxError('the text is not valid JSON');
  }
}
