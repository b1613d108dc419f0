import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { RunningProcess } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/** The compiled library, loaded by the child processes. */
const LIBRARY = new URL('../../dist/index.js', import.meta.url).href;
const TELEMETRY = new URL('../../../telemetry/dist/index.js', import.meta.url).href;

let dir: string;
let processes = 0;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'svc-run-process-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

/** A main module whose start function is `body`. */
async function mainOf(body: string): Promise<string> {
  const main = join(dir, `main-${(processes += 1)}.mjs`);
  const code = `
    import { StartFault, processConfig, runProcess } from ${JSON.stringify(LIBRARY)};
    const say = (text) => process.stdout.write(text + '\\n');
    await runProcess(process.env, {
      settings: processConfig({ name: 'test', port: 0 }),
      start: async (starting) => { ${body} },
    });`;
  await writeFile(main, code);
  return main;
}

async function started(body: string): Promise<RunningProcess> {
  const main = await mainOf(`${body}; setInterval(() => undefined, 1_000); return 'it runs';`);
  return (await RunningProcess.start({ main, env: {} }, /it runs/)).service;
}

async function ended(body: string, env: Record<string, string> = {}): Promise<RunningProcess> {
  const service = RunningProcess.spawn({ main: await mainOf(body), env });
  await service.ended();
  return service;
}

it('reports in its metrics whether it can serve', async () => {
  const service = await started(`
    const { scrapedMetrics } = await import(${JSON.stringify(TELEMETRY)});
    const ready = () => say(/^svc_ready_ratio.*$/m.exec(scrapedMetrics().text)[0]);
    ready();
    starting.readiness.report('database', 'it is away');
    ready();
    starting.readiness.report('database');
    ready()`);
  expect(service.output.match(/svc_ready_ratio \d/g)).toEqual([1, 0, 1].map((is) => `svc_ready_ratio ${is}`));
  await service.stop();
});

describe('a start that fails', () => {
  it('reports all invalid settings at once, each on its own line', async () => {
    const { exitCode, output } = await ended('', { PORT: 'many', SVC_LOG_LEVEL: 'loud', SVC_DRAIN_MS: '-1' });
    expect(exitCode).toBe(1);
    expect(output.trim().split('\n')).toEqual([
      expect.stringMatching(/^PORT: /),
      expect.stringMatching(/^SVC_LOG_LEVEL: /),
      expect.stringMatching(/^SVC_DRAIN_MS: /),
    ]);
  });

  it.each([
    ['a fault that was foreseen', `throw new StartFault('No luck.')`, 'No luck.'],
    [
      'a folder that cannot be written to',
      `throw Object.assign(new Error('EROFS'), { code: 'EROFS', path: '/data/x' })`,
      'Nothing can be written, since the file system is read-only, to /data/x',
    ],
    [
      'a disk that is full',
      `throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC', path: '/data/x' })`,
      'No space is left for /data/x',
    ],
  ])('reports %s in one line', async (_what, body, line) => {
    const { exitCode, output } = await ended(body);
    expect({ exitCode, output }).toEqual({ exitCode: 1, output: `${line}\n` });
  });

  it('explains a deadline that passed', async () => {
    const { output } = await ended(`
      const { once, EventEmitter } = await import('node:events');
      setTimeout(() => undefined, 60_000);
      await once(new EventEmitter(), 'never', { signal: AbortSignal.timeout(10) });`);
    expect(output).toMatch(/^The start took too long\. Is this machine overloaded\?\nAbortError: /);
  });

  it('keeps the stack of an unexpected error, and undoes what was started', async () => {
    const { exitCode, output } = await ended(`starting.undo(() => say('undone')); throw new Error('a bug');`);
    expect(exitCode).toBe(1);
    expect(output).toMatch(/Error: a bug\n +at /);
    expect(output).toContain('undone');
  });
});

describe('the end of a process', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    '%s undoes everything in reverse order, and exits with 0',
    async (signal) => {
      const service = await started(`
      starting.undo(() => say('first'));
      starting.undo(async () => { await new Promise((resolve) => setTimeout(resolve, 50)); say('second'); });`);
      expect(await service.stop(signal)).toBe(0);
      expect(service.output).toMatch(/second\nfirst\n$/);
    },
  );

  it('a part that fails does not keep the others from being undone, and sets the exit code', async () => {
    const service = await started(`
      starting.undo(() => say('first'));
      starting.undo(() => { throw new Error('stuck'); });`);
    expect(await service.stop()).toBe(1);
    expect(service.output).toMatch(/while stopping: stuck\nfirst\n$/);
  });

  it('a signal sent by both a terminal and npm counts once', async () => {
    const service = await started(`
      starting.undo(async () => { await new Promise((resolve) => setTimeout(resolve, 300)); say('undone'); });`);
    service.signal('SIGINT');
    await sleep(50);
    service.signal('SIGINT');
    expect(await service.ended()).toBe(0);
    expect(service.output).toContain('undone');
  });

  it('a later second signal ends the process at once, with 1', async () => {
    const service = await started(
      `starting.undo(() => { say('stopping'); return new Promise(() => undefined); });`,
    );
    service.signal('SIGTERM');
    while (!service.output.includes('stopping')) await sleep(10);
    await sleep(1_200);
    service.signal('SIGTERM');
    expect(await service.ended()).toBe(1);
  });

  it('a signal during the start undoes what has been started so far', async () => {
    const main = await mainOf(`
      say('starting');
      await new Promise((resolve) => setTimeout(resolve, 500));
      starting.undo(() => say('undone'));
      return 'it runs';`);
    const { service } = await RunningProcess.start({ main, env: {} }, /starting/);
    expect(await service.stop()).toBe(0);
    expect(service.output).toContain('undone');
  });

  it('leaves no torn log line, however slowly the log is read', async () => {
    const main = await mainOf(`
      const line = 'x'.repeat(1_000);
      for (let number = 1; number <= 2_000; number += 1) starting.logger.info({ number, line }, 'a line');
      setTimeout(() => starting.fail('the last line'), 50);
      return 'it runs';`);
    const child = spawn(process.execPath, [main], { env: {}, stdio: ['ignore', 'pipe', 'inherit'] });
    // The pipe is full when the process gets its signal to end.
    await once(child.stdout, 'readable');
    await sleep(500);
    const lines = (await text(child.stdout)).split('\n').filter((line) => line.startsWith('{'));
    expect(lines.map((line) => (JSON.parse(line) as { number?: number }).number)).toEqual([
      ...Array.from({ length: 2_000 }, (_, index) => index + 1),
      undefined,
    ]);
  });

  it.each([
    ['an exception that nobody caught', `setTimeout(() => { throw new Error('planted'); }, 100)`],
    ['a rejection that nobody caught', `setTimeout(() => void Promise.reject(new Error('planted')), 100)`],
    ['a part that gives up', `setTimeout(() => starting.fail('planted'), 100)`],
  ])('%s is logged, undoes everything and ends the process with 1', async (_what, fault) => {
    const service = await started(`starting.undo(() => say('undone')); ${fault}`);
    expect(await service.ended()).toBe(1);
    expect(service.output).toContain('undone');
    const line = service.output.split('\n').find((text) => text.includes('"fatal"'));
    expect(line).toContain('planted');
  });
});
