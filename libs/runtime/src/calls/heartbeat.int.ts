import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { TestServer } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Heartbeat } from './heartbeat.js';

describe('Heartbeat', () => {
  let server: TestServer;
  let isSilent: boolean;
  let heartbeat: Heartbeat;

  beforeEach(async () => {
    isSilent = false;
    server = await TestServer.start((_, response) => {
      if (!isSilent) response.writeHead(503).end();
    });
    heartbeat = new Heartbeat(server.url);
  });
  afterEach(async () => {
    heartbeat.close();
    await server.close().catch(() => undefined);
  });

  /** Ticks until the pulse has this value; the bound on ticks is generous. */
  async function beatsUntil(pulse: Heartbeat['pulse']): Promise<void> {
    for (let tick = 0; tick < 1_000 && heartbeat.pulse !== pulse; tick += 1) {
      heartbeat.tick();
      await setImmediate();
    }
    expect(heartbeat.pulse).toBe(pulse);
  }

  it('is silent once a response is late, and beats again with the next one, whatever its status', async () => {
    isSilent = true;
    await beatsUntil('silent');
    isSilent = false;
    await expect
      .poll(() => (heartbeat.tick(), heartbeat.pulse), { interval: 1, timeout: 30_000 })
      .toBe('beating');
  });

  it('is refusing when the address accepts no connection', async () => {
    await server.close();
    await expect
      .poll(() => (heartbeat.tick(), heartbeat.pulse), { interval: 1, timeout: 30_000 })
      .toBe('refusing');
  });

  it('measures lateness in turns of the event loop, not by the clock, so a busy process is not misled', async () => {
    isSilent = true;
    for (let tick = 0; tick < 10; tick += 1) heartbeat.tick();
    await sleep(5_000);
    heartbeat.tick();
    expect(heartbeat.pulse).toBe('beating');
  });
});
