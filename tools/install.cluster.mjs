import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { allFiles, root } from './check-sources.mjs';

it('`npm install` works without options, and leaves the lock file as it is', async () => {
  const copy = await mkdtemp(join(tmpdir(), 'svc-install-'));
  try {
    const manifests = allFiles().filter((path) => /(?:^|\/)(?:package|package-lock)\.json$/.test(path));
    for (const path of manifests) {
      await mkdir(join(copy, dirname(path)), { recursive: true });
      await copyFile(join(root, path), join(copy, path));
    }
    // Without a registry: what is locked needs none unless its dependencies conflict.
    const options = ['--package-lock-only', '--ignore-scripts', '--offline', '--no-audit'];
    const cache = `--cache=${join(copy, '.cache')}`;
    await promisify(execFile)('npm', ['install', ...options, cache], { cwd: copy, timeout: 60_000 });
    expect(await readFile(join(copy, 'package-lock.json'), 'utf8')).toBe(
      await readFile(join(root, 'package-lock.json'), 'utf8'),
    );
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}, 90_000);
