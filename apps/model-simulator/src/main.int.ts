import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the built program; `onLine` gets its first line of output. */
function run(args: readonly string[], onLine?: (line: string, stop: () => void) => void): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [MAIN, ...args]);
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (data: Buffer) => {
      const isFirst = stdout === '';
      stdout += data.toString();
      if (isFirst) onLine?.(stdout, () => child.kill('SIGTERM'));
    });
    child.stderr.on('data', (data: Buffer) => (stderr += data.toString()));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}

test('the program prints one line with its address, serves, and stops on SIGTERM', async () => {
  let status = 0;
  const ended = await run(['--port', '0'], (line, stop) => {
    const url = /http:\S+/.exec(line)?.[0] ?? '';
    void fetch(`${url}/healthz`)
      .then((response) => (status = response.status))
      .finally(stop);
  });
  expect(ended).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^model-simulator listening on http:\/\/127\.0\.0\.1:\d+\n$/) as string,
    stderr: '',
  });
  expect(status).toBe(200);
});

test('a taken port ends the program with one line', async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const { port } = taken.address() as AddressInfo;
  const ended = await run(['--port', String(port)]);
  taken.close();
  expect(ended).toEqual({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^model-simulator: port \d+ of 127\.0\.0\.1 is taken[^\n]*\n$/) as string,
  });
});

test('all faults of the command line are printed at once', async () => {
  const ended = await run(['--port', 'x', '--itl-ms', '-1']);
  expect(ended.code).toBe(1);
  expect(ended.stderr).toMatch(/--port.*\n.*--itl-ms/);
});
