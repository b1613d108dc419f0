/** How `robots.txt` is written for this service, and for all who are not named. */
const OWN_NAME = 'svc-guarded-fetch';

/** RFC 9309 asks for at least 500 KiB; rules beyond so many are no rules for a page. */
const RULES_AT_MOST = 5_000;

interface Rule {
  readonly allows: boolean;
  readonly path: string;
}

/** What a host lets robots read (RFC 9309). */
export class RobotRules {
  private constructor(private readonly rules: readonly Rule[]) {}

  static readonly everything = new RobotRules([]);
  static readonly nothing = new RobotRules([{ allows: false, path: '/' }]);

  static parse(text: string): RobotRules {
    const groups = new Map<string, Rule[]>();
    let names: string[] = [];
    let hasRules = false;
    let count = 0;
    for (const line of text.split(/\r\n|\r|\n/)) {
      const [, field = '', value = ''] = /^\s*([A-Za-z-]{1,20})\s*:\s*([^#]{0,2000})/.exec(line) ?? [];
      const name = field.toLowerCase();
      if (name === 'user-agent') {
        if (hasRules) names = [];
        hasRules = false;
        names.push(value.trim().toLowerCase());
      } else if (name === 'allow' || name === 'disallow') {
        hasRules = true;
        count += 1;
        const path = value.trim();
        if (path === '' || count > RULES_AT_MOST) continue;
        for (const each of names)
          groups.set(each, [...(groups.get(each) ?? []), { allows: name === 'allow', path }]);
      }
    }
    return new RobotRules(groups.get(OWN_NAME) ?? groups.get('*') ?? []);
  }

  /** Whether a path with its query may be read: the longest rule that fits decides, and of two as long the one that allows. */
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

/** `*` is anything, and `$` the end. Looks at each piece once, from left to right. */
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
