import { once } from 'node:events';
import { connect } from 'node:net';
import type { DynamicModule } from '@nestjs/common';
import { afterEach, describe, expect, it } from 'vitest';
import { SharedSecret } from '../http/secrets.js';
import { createLogger } from '../logging/logging.js';
import { type Running, serve } from './serve.js';
import { INTERNAL, METRICS, OPERATOR, Process, gates, internal } from '../../test/process-harness.js';

let running: Running | undefined;
afterEach(() => running?.stop());

async function start(module: DynamicModule, options: { operator?: true; metricsToken?: string }) {
  const local = { host: '127.0.0.1', port: 0 };
  running = await serve({
    module,
    logger: createLogger('silent'),
    api: local,
    ...(options.operator && { operator: local }),
    metricsToken: options.metricsToken === undefined ? undefined : new SharedSecret(options.metricsToken),
    drainMs: 0,
  });
  return running;
}

const get = (url: string, token?: string): Promise<Response> =>
  fetch(url, token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } });

describe('GET /metrics', () => {
  it("accepts the operator's or the metrics token, on the operator's port alone", async () => {
    const { apiUrl, operatorUrl } = await start(Process.with(gates, internal), {
      operator: true,
      metricsToken: METRICS,
    });
    const url = `${operatorUrl}/metrics`;
    expect((await get(url, METRICS)).status).toBe(200);
    expect((await get(url, OPERATOR)).status).toBe(200);
    for (const token of [undefined, INTERNAL, `${METRICS}x`, ''])
      expect((await get(url, token)).status).toBe(401);
    expect((await get(`${apiUrl}/metrics`, METRICS)).status).toBe(404);
  });

  it("without an operator's port accepts the metrics or the internal token", async () => {
    const { apiUrl } = await start(Process.with(internal), { metricsToken: METRICS });
    const url = `${apiUrl}/metrics`;
    expect((await get(url, METRICS)).status).toBe(200);
    expect((await get(url, INTERNAL)).status).toBe(200);
    for (const token of [undefined, OPERATOR]) expect((await get(url, token)).status).toBe(401);
  });

  it('rejects every request if no token is set', async () => {
    const { apiUrl } = await start(Process.with(), {});
    for (const token of [undefined, '', METRICS])
      expect((await get(`${apiUrl}/metrics`, token)).status).toBe(401);
  });

  it('refuses to start with a token that is too short', async () => {
    await expect(start(Process.with(internal), { metricsToken: '' })).rejects.toThrow(/at least 32/);
  });

  it('counts responses by route and status, never by values that a client made up', async () => {
    const { apiUrl } = await start(Process.with(internal), { metricsToken: METRICS });
    await get(`${apiUrl}/healthz`);
    await get(`${apiUrl}/made-up-by-a-client`);
    const response = await get(`${apiUrl}/metrics`, METRICS);
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    const text = await response.text();
    expect(text).toMatch(
      /^http_server_request_duration_seconds_count\{http_request_method="GET",http_route="\/healthz",http_response_status_code="200"\} [1-9]/m,
    );
    expect(text).toMatch(
      /_count\{http_request_method="_OTHER",http_route="_OTHER",http_response_status_code="404"\} [1-9]/,
    );
    expect(text).not.toContain('made-up');
  });

  it('counts a request as active until its response ends or its client disconnects', async () => {
    const { apiUrl } = await start(Process.with(internal), { metricsToken: METRICS });
    const active = async (): Promise<number> => {
      const text = await (await get(`${apiUrl}/metrics`, METRICS)).text();
      return Number(/^http_server_active_requests (\d+)$/m.exec(text)?.[1]);
    };
    const before = await active();
    expect(before).toBeGreaterThan(0);
    const port = Number(new URL(apiUrl).port);
    const head = `PUT /operator/v1/log-level HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${INTERNAL}`;
    const half = `${head}\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{`;
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write(half);
    await expect.poll(active).toBeGreaterThan(before);
    socket.resetAndDestroy();
    await expect.poll(active).toBeLessThanOrEqual(before);
  });
});
