import type { DynamicModule } from '@nestjs/common';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { LogLevelSwitch } from '../logging/log-level.js';
import { SharedSecret } from '../http/secrets.js';
import { createLogger } from '../logging/logging.js';
import { type Running, serve } from './serve.js';
import { INTERNAL, METRICS, OPERATOR, Process, gates, internal } from '../../test/process-harness.js';

const logger = createLogger('silent');

let running: Running | undefined;
afterEach(async () => {
  await running?.stop();
  logger.level = 'silent';
});

async function start(module: DynamicModule, operator: boolean): Promise<Running> {
  const local = { host: '127.0.0.1', port: 0 };
  const ports = { api: local, ...(operator && { operator: local }) };
  running = await serve({ module, logger, ...ports, metricsToken: new SharedSecret(METRICS), drainMs: 0 });
  return running;
}

const ask = (url: string, token: string, level?: object): Promise<Response> =>
  fetch(`${url}/operator/v1/log-level`, {
    method: level ? 'PUT' : 'GET',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(level && { body: JSON.stringify(level) }),
  });

describe('the log level', () => {
  it('can be changed by the operator at run time, permanently or for a limited time', async () => {
    const { apiUrl, operatorUrl = '' } = await start(Process.with(gates, internal), true);
    expect(await (await ask(operatorUrl, OPERATOR)).json()).toEqual({ level: 'silent', until: null });
    expect((await ask(operatorUrl, OPERATOR, { level: 'fatal' })).status).toBe(200);
    expect(logger.level).toBe('fatal');
    const timed = await ask(operatorUrl, OPERATOR, { level: 'error', seconds: 60 });
    const { level, until } = (await timed.json()) as { level: string; until: string };
    expect(level).toBe('error');
    expect(new Date(until).getTime()).toBeGreaterThan(Date.now());
    expect((await ask(operatorUrl, OPERATOR, { level: 'loud' })).status).toBe(400);
    for (const token of ['', INTERNAL, METRICS])
      expect((await ask(operatorUrl, token, { level: 'trace' })).status).toBe(401);
    expect((await ask(apiUrl, OPERATOR, { level: 'trace' })).status).toBe(404);
    expect(logger.level).toBe('error');
  });

  it("without an operator's port can be changed with the internal token", async () => {
    const { apiUrl } = await start(Process.with(internal), false);
    expect((await ask(apiUrl, INTERNAL, { level: 'fatal' })).status).toBe(200);
    for (const token of [OPERATOR, METRICS])
      expect((await ask(apiUrl, token, { level: 'trace' })).status).toBe(401);
    expect(logger.level).toBe('fatal');
  });

  it('reverts by itself, and logs every change even while silent', () => {
    vi.useFakeTimers();
    try {
      const lines: string[] = [];
      const logger = {
        level: 'silent',
        warn: (_: object, text: string) => lines.push(`${logger.level} ${text}`),
      };
      const levels = new LogLevelSwitch(logger as never);
      levels.set({ level: 'debug', seconds: 10 });
      expect(logger.level).toBe('debug');
      vi.advanceTimersByTime(10_000);
      expect(levels.state).toEqual({ level: 'silent', until: null });
      expect(lines).toEqual(Array(2).fill('warn the log level was changed'));
    } finally {
      vi.useRealTimers();
    }
  });
});
