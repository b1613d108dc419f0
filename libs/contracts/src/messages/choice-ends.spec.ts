import { describe, expect, it } from 'vitest';
import { hasFailed, isError, readChoiceEnd } from './choice-ends.js';

describe('the end of a choice', () => {
  const NAMES = {
    stop: 'stop STOP end_turn stop_sequence COMPLETE eos_token tool_calls tool_use function_call TOOL_CALL FINISH',
    length:
      'length MAX_TOKENS max_tokens model_length max_output_tokens model_context_window_exceeded ERROR_LIMIT repetition',
    content_filter:
      'content_filter SAFETY RECITATION BLOCKLIST PROHIBITED_CONTENT SPII refusal guardrail_intervened content_filtered sensitive ERROR_TOXIC',
    failure:
      'abort error ERROR cancelled TIMEOUT insufficient_system_resource network_error malformed_tool_use',
    'not yet': 'null FINISH_REASON_UNSPECIFIED not_finished',
  };

  it.each(
    Object.entries(NAMES).flatMap(([end, names]) => names.split(' ').map((name) => [name, end] as const)),
  )('is read from the name %s as %s, however it is written', (name, end) => {
    const camel = name.toLowerCase().replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    const forms = [name, name.toLowerCase(), name.toUpperCase(), camel, name.replaceAll('_', '-')];
    for (const form of [...forms, `FinishReason.${name}`, `FINISH_REASON_${name}`])
      expect(readChoiceEnd(form)).toEqual({ end });
    expect(readChoiceEnd({ type: name, length: 9 })).toEqual({ end });
  });

  it.each([undefined, null, ''])('has not come while its name is %j', (name) => {
    expect(readChoiceEnd(name)).toEqual({ end: 'not yet' });
  });

  it.each([
    ['quiescent', 'quiescent'],
    ['constructor', 'constructor'],
    ['__proto__', '__proto__'],
    [`stop${'_'.repeat(100)}`, `stop${'_'.repeat(60)}`],
    [7, 'number'],
    [{ reason: 'stop' }, 'object'],
    [['stop'], 'object'],
  ])('is unknown for any other value: %j', (reason, name) => {
    expect(readChoiceEnd(reason)).toEqual({ end: 'unknown', name });
  });
});

describe('an error of a response', () => {
  it.each(
    [
      [undefined, null, false, '', ' ', 0, {}, [], { message: '', code: null }],
      [{ message: null, type: '', param: null, code: 0 }, { error: { message: '', details: [] } }],
    ].flat(),
  )('is ignored if it is empty: %j', (error) => {
    expect(isError(error)).toBe(false);
    expect(hasFailed({ error, finish_reason: 'stop' })).toBe(false);
  });

  it.each(
    [
      ['no', true, 1, { message: 'no' }, { message: '', code: 502 }, { code: 'x' }, ['no']],
      [{ a: { b: { c: { d: { e: { f: '' } } } } } }],
    ].flat(),
  )('is one with any content: %j', (error) => {
    expect(isError(error)).toBe(true);
    expect(hasFailed({ error, finish_reason: 'stop' })).toBe(true);
  });
});
