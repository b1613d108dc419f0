/** The name of this service in `robots.txt`. */
const OWN_NAME = 'svc-guarded-fetch';

/** RFC 9309 requires parsing at least 500 KiB; this is the most rules kept for this service. */
const RULES_AT_MOST = 5_000;

/** The overhead of a rule in addition to its path. */
const RULE_BYTES = 64;

interface Rule {
  readonly allows: boolean;
  readonly path: string;
}

/** What a host allows robots to read (RFC 9309). */
export class RobotRules {
  private constructor(private readonly rules: readonly Rule[]) {}

  static readonly everything = new RobotRules([]);
  static readonly nothing = new RobotRules([{ allows: false, path: '/' }]);

  static parse(text: string): RobotRules {
    const own: Rule[] = [];
    const others: Rule[] = [];
    let isOwnNamed = false;
    // The groups that the current rules belong to; rules for other robots are not kept, however many there
    // are.
    let groups = new Set<Rule[]>();
    let hasRules = false;
    let count = 0;
    for (const line of text.split(/\r\n|\r|\n/)) {
      const [, field = '', value = ''] = /^\s*([A-Za-z-]{1,20})\s*:\s*([^#]{0,2000})/.exec(line) ?? [];
      const name = field.toLowerCase();
      if (name === 'user-agent') {
        if (hasRules) groups = new Set();
        hasRules = false;
        const agent = value.trim().toLowerCase();
        isOwnNamed ||= agent === OWN_NAME;
        if (agent === OWN_NAME) groups.add(own);
        if (agent === '*') groups.add(others);
      } else if (name === 'allow' || name === 'disallow') {
        hasRules = true;
        const path = value.trim();
        if (path === '' || groups.size === 0 || count === RULES_AT_MOST) continue;
        count += 1;
        for (const rules of groups) rules.push({ allows: name === 'allow', path: copied(path) });
      }
    }
    return new RobotRules(isOwnNamed ? own : others);
  }

  /** The approximate memory used, in bytes. */
  get sizeBytes(): number {
    return this.rules.reduce((sum, { path }) => sum + 2 * path.length + RULE_BYTES, RULE_BYTES);
  }

  /**
   * Whether a path with its query may be read: the longest matching rule decides, and among equals the
   * allowing one.
   */
  allows(path: string): boolean {
    let best: Rule | undefined;
    for (const rule of this.rules) {
      if (!fits(rule.path, path)) continue;
      const isLonger = !best || rule.path.length > best.path.length;
      if (isLonger || (rule.path.length === best?.path.length && rule.allows)) best = rule;
    }
    return best?.allows ?? true;
  }
}

/** A substring would keep the whole text in memory. */
const copied = (piece: string): string => Buffer.from(piece).toString();

/** `*` matches anything, and `$` the end. Visits each piece once, from left to right. */
function fits(pattern: string, path: string): boolean {
  const isWhole = pattern.endsWith('$');
  const pieces = (isWhole ? pattern.slice(0, -1) : pattern).split('*');
  const [first = '', ...others] = pieces;
  if (!path.startsWith(first)) return false;
  let at = first.length;
  for (const [index, piece] of others.entries()) {
    if (isWhole && index === others.length - 1)
      return path.length - piece.length >= at && path.endsWith(piece);
    const found = path.indexOf(piece, at);
    if (found === -1) return false;
    at = found + piece.length;
  }
  return !isWhole || at === path.length;
}
