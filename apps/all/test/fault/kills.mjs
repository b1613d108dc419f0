// `npm run test:kills -- 1000 [seed]`: the fault test of killed-under-load, with this number of kills.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const [kills = '1000', seed] = process.argv.slice(2);
for (const number of [kills, seed ?? '0']) {
  if (/^\d{1,10}$/.test(number)) continue;
  process.stderr.write('Usage: npm run test:kills -- [kills, default: 1000] [seed of an earlier run]\n');
  process.exit(2);
}
const root = fileURLToPath(new URL('../../../..', import.meta.url));
const { status } = spawnSync('vitest', ['run', 'apps/all/test/fault/killed-under-load.fault.ts'], {
  cwd: root,
  env: { ...process.env, KILLS: kills, ...(seed !== undefined && { SEED: seed }) },
  stdio: 'inherit',
  shell: process.platform === 'win32',
});
process.exit(status ?? 1);
