import { randomBytes } from 'node:crypto';
import { type Fields, fieldsOf, isFields, unusable } from '@svc/contracts/inference';

/** The most tool calls in one choice of a stream. */
const CALLS_LIMIT = 1_024;

/** The arguments of a call without any, since clients parse them as JSON. */
const NO_ARGUMENTS = '{}';

/** The state of a call so far. */
interface BackendToolCall {
  readonly index: number;
  /** The backend's id, if any. Of several calls with the same id, fragments are matched to the first. */
  readonly backendId: string | undefined;
  name: string | undefined;
}

/**
 * The tool calls of one choice of a stream. Clients match fragments by `index` and take id, type and name
 * from the first one. So these are sent exactly once and never change, whatever the backend omits, repeats or
 * numbers otherwise.
 */
export class ToolCallStream {
  private readonly calls: BackendToolCall[] = [];
  /** By the backend's index, which some backends reuse for several calls. */
  private readonly byBackendIndex = new Map<number, BackendToolCall>();
  private readonly byBackendId = new Map<string, BackendToolCall>();

  /** Converts the fragments of a delta to the format of the contract. Refuses: INFERENCE_FAILED. */
  shape(fragments: unknown): Fields[] {
    return fieldsOf(fragments).map((fragment) => {
      const known = this.known(fragment);
      return known ? laterFragment(fragment, known) : this.firstFragment(fragment);
    });
  }

  /**
   * The call that a fragment belongs to; undefined if it begins a new one. Without id and name it continues
   * the last call, whatever its index: some backends count their chunks there.
   */
  private known(fragment: Fields): BackendToolCall | undefined {
    const [id, name] = [nonEmpty(fragment['id']), nameOf(fragment)];
    const backendIndex = indexOf(fragment);
    const call = backendIndex === undefined ? undefined : this.byBackendIndex.get(backendIndex);
    if (!call) {
      if (id !== undefined && (name === undefined || backendIndex === undefined))
        return this.byBackendId.get(id);
      return name === undefined ? this.calls.at(-1) : undefined;
    }
    if (name === undefined || call.name === undefined) return call;
    const isSame =
      id !== undefined && call.backendId !== undefined ? id === call.backendId : name === call.name;
    return isSame ? call : undefined;
  }

  private firstFragment(fragment: Fields): Fields {
    if (this.calls.length === CALLS_LIMIT) throw unusable('the backend makes too many calls');
    const backendIndex = indexOf(fragment);
    const backendId = nonEmpty(fragment['id']);
    const shaped = { index: this.calls.length, ...wholeCall(fragment, '') };
    const call = { index: shaped.index, backendId, name: nameOf(fragment) };
    this.calls.push(call);
    if (backendId !== undefined && !this.byBackendId.has(backendId)) this.byBackendId.set(backendId, call);
    if (backendIndex !== undefined) this.byBackendIndex.set(backendIndex, call);
    return shaped;
  }
}

/**
 * The calls of a message that is not streamed, each with id, type, name and arguments, which are complete
 * unless the message was cut.
 */
export function wholeToolCalls(calls: unknown, isCut: boolean): Fields[] {
  return fieldsOf(calls).map((call) => wholeCall(call, isCut ? '' : NO_ARGUMENTS));
}

/** Converts a legacy `function_call` to a tool call. */
export function adoptFunctionCall(message: Fields): void {
  const { function_call: call } = message;
  if (call === undefined) return;
  message['function_call'] = undefined;
  if (isFields(call) && fieldsOf(message['tool_calls']).length === 0)
    message['tool_calls'] = [{ index: 0, function: call }];
}

function laterFragment(fragment: Fields, call: BackendToolCall): Fields {
  const shaped: Fields = { ...fragment, index: call.index, id: undefined, type: undefined };
  const { function: called } = fragment;
  if (!isFields(called)) return shaped;
  const name = nameOf(fragment);
  const isNew = call.name === undefined && name !== undefined;
  if (isNew) call.name = name;
  shaped['function'] = { name: isNew ? name : undefined, arguments: argumentsText(called['arguments']) };
  return shaped;
}

function wholeCall(call: Fields, noArguments: string): Fields {
  const { index: _index, ...rest } = call;
  const type = nonEmpty(call['type']) ?? 'function';
  const shaped: Fields = { ...rest, id: nonEmpty(call['id']) ?? newCallId(), type };
  // Tools of other kinds have their own member in place of `function`.
  if (type !== 'function') return shaped;
  const called = isFields(call['function']) ? call['function'] : {};
  const text = nonEmpty(argumentsText(called['arguments'])) ?? noArguments;
  return { ...shaped, function: { ...called, name: nonEmpty(called['name']), arguments: text } };
}

function newCallId(): string {
  return `call_${randomBytes(12).toString('hex')}`;
}

/** Arguments as JSON text; some backends send the value itself. */
function argumentsText(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function nameOf(fragment: Fields): string | undefined {
  return isFields(fragment['function']) ? nonEmpty(fragment['function']['name']) : undefined;
}

function indexOf(fragment: Fields): number | undefined {
  return Number.isSafeInteger(fragment['index']) ? Number(fragment['index']) : undefined;
}

function nonEmpty(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
