import { expect, test } from 'vitest';
import { RequestLog } from './log.js';
import type { LogEntry } from './log.js';

function entry(id: string, body = ''): LogEntry {
  const headers = { authorization: 'Bearer sk-secret-1234', accept: '*/*' };
  const counts = { status: 0, promptTokens: 0, cachedTokens: 0, completionTokens: 0 };
  return {
    id,
    at: '',
    model: 'm',
    stream: false,
    headers,
    body,
    bodyBytes: body.length,
    outcome: 'pending',
    ...counts,
  };
}

test('the log keeps the newest entries and cuts long bodies', () => {
  const log = new RequestLog(2, 4);
  for (const id of ['a', 'b', 'c']) log.add(entry(id, '123456'));
  expect(log.requests().map(({ id, body, bodyBytes }) => [id, body, bodyBytes])).toEqual([
    ['b', '1234', 6],
    ['c', '1234', 6],
  ]);
});

test('credentials are masked except for their last four characters', () => {
  const log = new RequestLog(2, 4);
  log.add(entry('a'));
  expect(log.requests()[0]?.headers).toEqual({ authorization: '***1234', accept: '*/*' });
});
