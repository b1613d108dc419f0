import { spawnSync } from 'node:child_process';

/** The version that an installed program prints; undefined if it is not installed. */
export function versionOf(program, flag) {
  const { error, stdout, stderr } = spawnSync(program, [flag], { encoding: 'utf8', timeout: 5_000 });
  return error ? undefined : `${stdout}${stderr}`.trim().split('\n')[0];
}
