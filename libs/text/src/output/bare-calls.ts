import { type Fields, fieldsOf, isFields } from '@svc/contracts/inference';

/** The arguments of a call without any, since clients parse them as JSON. */
const NO_ARGUMENTS = '{}';

/** The calls of a choice of which no arguments have arrived. */
export class BareCalls {
  /** By the index of the call. Tools that are no functions have no arguments. */
  private readonly isBare = new Map<unknown, boolean>();

  /** Reads fragments of calls. */
  add(fragments: unknown): void {
    for (const { index, function: called } of fieldsOf(fragments)) {
      const text = isFields(called) ? called['arguments'] : undefined;
      if (!this.isBare.has(index)) this.isBare.set(index, text === '');
      else if ((text ?? '') !== '') this.isBare.set(index, false);
    }
  }

  /** Gives calls without arguments empty ones in the last delta, whose fragments have been read. */
  complete(delta: Fields): void {
    const fragments = fieldsOf(delta['tool_calls']);
    for (const [index, isBare] of this.isBare) {
      if (!isBare) continue;
      const called = { arguments: NO_ARGUMENTS };
      const begun = fragments.find((fragment) => fragment['index'] === index);
      if (!begun) fragments.push({ index, function: called });
      else begun['function'] = isFields(begun['function']) ? { ...begun['function'], ...called } : called;
    }
    if (fragments.length > 0) delta['tool_calls'] = fragments;
  }
}
