// Generates the Prisma client when its schema or Prisma itself has changed.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '..');
const output = join(root, 'libs/storage/src/generated/prisma');
const stamp = join(output, '.inputs-sha256');
const prismaPackage = createRequire(import.meta.url).resolve('prisma/package.json');

const inputs = [
  prismaPackage,
  join(root, 'prisma.config.ts'),
  ...globSync('prisma/schema/*.prisma', { cwd: root })
    .toSorted()
    .map((path) => join(root, path)),
];
const hash = createHash('sha256');
for (const path of inputs)
  hash.update(path.slice(root.length)).update('\0').update(readFileSync(path)).update('\0');
const digest = hash.digest('hex');

if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== digest) {
  rmSync(output, { recursive: true, force: true });
  const cli = join(dirname(prismaPackage), JSON.parse(readFileSync(prismaPackage, 'utf8')).bin.prisma);
  const result = spawnSync(process.execPath, [cli, 'generate', '--no-hints'], {
    cwd: root,
    encoding: 'utf8',
    timeout: 120_000,
    env: {
      ...process.env,
      // Generating needs no schema engine. Naming any file keeps Prisma from downloading one.
      PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
      PRISMA_HIDE_UPDATE_MESSAGE: '1',
      CHECKPOINT_DISABLE: '1',
    },
  });
  if (result.status !== 0) {
    console.error(`prisma generate failed\n${result.stdout}${result.stderr}${result.error ?? ''}`);
    process.exit(1);
  }
  writeFileSync(stamp, digest);
}
