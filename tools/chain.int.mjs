import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePorts } from '@svc/storage';
import { RunningProcess } from '@svc/testing';
import { expect, it, onTestFinished } from 'vitest';

const main = fileURLToPath(new URL('chain.mjs', import.meta.url));

it('writes the keys of its signers to an absolute SVC_DATA_DIR, for their owner alone', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'svc-chain-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const [chainPort, solanaPort] = await freePorts(2);
  const env = {
    ...process.env,
    SVC_DATA_DIR: dir,
    CHAIN_PORT: String(chainPort),
    CHAIN_SOLANA_PORT: String(solanaPort),
  };
  const ready = /X402_EVM_SIGNER_KEY_FILE=(\S+)[^]*X402_SOLANA_SIGNER_KEY_FILE=(\S+)/;
  const { service, match } = await RunningProcess.start({ main, env }, ready);
  onTestFinished(() => service.stop());
  const files = ['chain-signer-key', 'chain-solana-signer-key'].map((name) => join(dir, name));
  expect(match.slice(1)).toEqual(files);
  expect(await readFile(files[0], 'utf8')).toMatch(/^0x[0-9a-f]{64}$/);
  for (const file of files) expect((await stat(file)).mode & 0o777).toBe(0o600);
});
