import { type Fields, REASONING_LISTS, REASONING_NAMES, fieldsOf } from '@svc/contracts/inference';

/** Members of an entry that identify it, or that only the server can read. */
const SEALED: ReadonlySet<string> = new Set(['type', 'id', 'index', 'format', 'signature', 'data']);

/** Removes readable reasoning. Signatures and encrypted reasoning stay, since clients send them back. */
export function removeReasoning(message: Fields): void {
  for (const name of ['reasoning_content', ...REASONING_NAMES])
    if (message[name] !== undefined) message[name] = undefined;
  for (const name of REASONING_LISTS) {
    if (message[name] === undefined) continue;
    const sealed = fieldsOf(message[name]).filter(
      (entry) => isText(entry['signature']) || isText(entry['data']),
    );
    message[name] = sealed.length > 0 ? sealed.map(withoutTexts) : undefined;
  }
}

/** Whether a delta is empty. */
export function isEmptyDelta(delta: Fields): boolean {
  return Object.values(delta).every((value) => value === undefined || value === null || value === '');
}

function withoutTexts(entry: Fields): Fields {
  return Object.fromEntries(Object.entries(entry).filter(([name]) => SEALED.has(name)));
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}
