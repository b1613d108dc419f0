import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestDatabase } from '@svc/storage/testing';
import { RunningProcess } from '@svc/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../response-bodies.js';
import { MAIN } from '../own-env.js';
import { ownPlatform, printedKey } from '../own-platform.js';
import { startSimulatorProcess } from '../../src/simulator-process.js';

const SIMULATED = { id: 'simulated', backends: [{ kind: 'simulator', model: 'm' }] };

describe('a failed start', () => {
  it('reports in one line that Node is too old', async () => {
    const script = "Object.defineProperty(process.versions, 'node', { value: '20.20.2' })";
    const old = `--import=data:text/javascript,${encodeURIComponent(script)}`;
    const service = RunningProcess.spawn({ main: MAIN, env: { NODE_OPTIONS: old } });
    await eventually('it has ended', () => service.exitCode !== null);
    expect([service.exitCode, service.output]).toEqual([
      1,
      expect.stringMatching(/^This program needs Node 26 or newer, but runs on v[^\n]+\n$/),
    ]);
  });

  it('reports in one line that a port is taken', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const fault = await ownPlatform({ env: { PORT: String(port) } }).then(() => 'it started', String);
    server.close();
    expect(fault).toContain('it ended with 1:');
    // A busy database may be in the log.
    const lines = fault.trimEnd().split('\n').slice(1);
    const plain = lines.filter((line) => line.trim() !== '' && !line.startsWith('{'));
    expect(plain).toEqual([expect.stringMatching(`^Port ${port} is taken\\.`)]);
  });

  it('reports every error in the catalogue', async () => {
    const catalogText =
      'models: [{ id: a, name: A, contextTokens: -1, maxCompletionTokens: 1, pricing: { input: 1 } }]\ntiers: {}\n';
    const fault = await ownPlatform({ catalogText }).catch(String);
    expect(fault).toMatch(/it ended with 1:/);
    expect(fault).toContain('models.0.contextTokens');
    expect(fault).toContain('models.0.pricing.output');
  });

  it('refuses an operator token file that was cut short', { timeout: 120_000 }, async () => {
    const dir = await mkdtemp(join(tmpdir(), 'svc-token-'));
    onTestFinished(() => rm(dir, { recursive: true, force: true }));
    await writeFile(join(dir, 'operator-token'), '\n');
    const env = { SVC_OPERATOR_TOKEN: '', SVC_DATA_DIR: dir };
    const fault = await ownPlatform({ env }).then(() => 'it started', String);
    expect(fault).toMatch(/operator-token holds fewer than 32 characters/);
  });

  it('reports every error in the environment', async () => {
    const fault = await ownPlatform({ env: { PORT: 'many', SVC_LOG_LEVEL: 'loud' } }).catch(String);
    expect(fault).toMatch(/it ended with 1:/);
    expect(fault).toContain('PORT:');
    expect(fault).toContain('SVC_LOG_LEVEL:');
  });

  it('reports in one line that its folder is not writable', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'svc-closed-'));
    await chmod(dir, 0o555);
    // Root can write anywhere, so run as another user.
    const uid = process.getuid?.() === 0 ? 65_534 : undefined;
    const env = { SVC_DATA_DIR: join(dir, 'data'), PORT: '0', OPERATOR_PORT: '0' };
    const service = RunningProcess.spawn({ main: MAIN, env, ...(uid !== undefined && { uid }) });
    expect(await service.ended()).toBe(1);
    expect(service.output).toBe(`No permission for ${join(dir, 'data')}\n`);
    await rm(dir, { recursive: true });
  });

  it('reports in one line that its database cannot be reached, after waiting for it', async () => {
    const env = { DATABASE_URL: 'postgres://svc:secret@127.0.0.1:1/svc', DATABASE_START_WAIT_MS: '3000' };
    const fault = await ownPlatform({ env }).catch(String);
    expect(fault).toMatch(/it ended with 1:/);
    expect(fault).toContain('The database at 127.0.0.1:1 cannot be reached yet; retrying for 3 s: ');
    expect(fault).toMatch(/\nThe database at 127\.0\.0\.1:1 could not be reached within 3 s: [^\n]*\n$/);
    expect(fault).not.toContain('secret');
  });

  it('does not wait for a database that rejects its credentials', async () => {
    const database = await startTestDatabase();
    onTestFinished(() => database.stop());
    const url = new URL(database.url);
    url.password = 'wrong';
    const fault = await ownPlatform({ env: { DATABASE_URL: url.href } }).catch(String);
    expect(fault).toMatch(/it ended with 1:\s+The database at 127\.0\.0\.1:\d+ cannot be used: [^\n]*\n$/);
  });

  it('prints nothing behind its message while the model simulator starts', async () => {
    const env = { DATABASE_URL: 'postgres://svc@127.0.0.1:1/svc', DATABASE_START_WAIT_MS: '1' };
    const fault = await ownPlatform({ env, models: [SIMULATED] }).catch(String);
    expect(fault).toMatch(/it ended with 1:/);
    expect(fault).toMatch(/\nThe database at 127\.0\.0\.1:1 could not be reached within 0\.001 s: [^\n]*\n$/);
  });

  it('reports in one line that the model simulator ended', async () => {
    const script = "if (process.argv[1]?.includes('model-simulator')) process.exit(7)";
    const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` };
    const fault = await ownPlatform({ env, models: [SIMULATED] }).catch(String);
    expect(fault).toMatch(/\nThe model simulator ended with 7 during its start\.\n$/);
  });

  it('names the model simulator if it does not start in time', async () => {
    const undone: (() => Promise<void> | void)[] = [];
    const starting = startSimulatorProcess({ undo: (undo) => undone.push(undo) }, 1);
    await expect(starting).rejects.toThrow('The model simulator did not start within 0.001 s.');
    for (const undo of undone) await undo();
  });

  it('does not affect a running instance on the same data', async () => {
    const platform = await ownPlatform();
    const fault = await ownPlatform({ env: { SVC_DATA_DIR: platform.dataDir } }).catch(String);
    expect(fault).toMatch(/it ended with 1:/);
    expect(fault).toContain(platform.dataDir);
    const messages = [{ role: 'user', content: 'hi' }];
    const response = await platform.chat(printedKey(platform), { model: 'test-model', messages });
    expect(response.status).toBe(200);
  });
});
