// The chart and the compose file have the variables of every payment rail of the table, and of no other.
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RAILS } from '@svc/payments';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { secretKeys, withRails } from '../../tools/rail-variables.mjs';
import { CHART, EXTERNAL, Release, SETTINGS } from './chart.mjs';

const COMPOSE = await readFile(new URL('../compose.yaml', import.meta.url), 'utf8');
const third = { prefix: 'X402_POLYGON' };
const SETTINGS_OF_ALL = ['RPC_URL', 'PAY_TO', 'SIGNER_KEY', 'SIGNER_KEY_FILE'];

let folder;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'chart-rails-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** The chart as `npm run chart` would write it for these rails. */
async function chartFor(name, kinds) {
  const chart = join(folder, name);
  await cp(CHART, chart, { recursive: true });
  const variables = kinds.flatMap(({ prefix }) => SETTINGS_OF_ALL.map((one) => `${prefix}_${one}`));
  const known = Object.entries(SETTINGS).map(([process, { needed, optional }]) => [
    process,
    { needed, optional: optional.includes('X402_FACILITATOR_URL') ? [...optional, ...variables] : optional },
  ]);
  await writeFile(join(chart, 'files/settings.json'), JSON.stringify(Object.fromEntries(known)));
  await writeFile(join(chart, 'files/payments.json'), JSON.stringify(secretKeys(kinds)));
  return chart;
}

it.each([
  ['the table', RAILS],
  ['the table and one more', [...RAILS, third]],
])(
  'the chart gives x402-payments the key and the node of each rail of %s from its Secret',
  async (name, kinds) => {
    const chart = await chartFor(name.replaceAll(' ', '-'), kinds);
    const release = await Release.of({ ...EXTERNAL, payments: { existingSecret: 'money' } }, { chart });
    const { env } = release.pod('x402-payments').spec.containers[0];
    for (const { prefix } of kinds) {
      const rail = prefix === 'X402_EVM' ? '' : `${prefix.slice('X402_'.length).toLowerCase()}-`;
      expect(env).toContainEqual({
        name: `${prefix}_RPC_URL`,
        valueFrom: { secretKeyRef: { name: 'money', key: `${rail}rpc-url`, optional: true } },
      });
      expect(env).toContainEqual({
        name: `${prefix}_SIGNER_KEY_FILE`,
        value: `/etc/svc/payments/${rail}signer-key`,
      });
    }
  },
);

it('the chart of this repository is that of the table', async () => {
  const keys = JSON.parse(await readFile(`${CHART}/files/payments.json`, 'utf8'));
  expect(keys).toEqual(secretKeys(RAILS));
});

it.each([
  ['the table', RAILS],
  ['the table and one more', [...RAILS, third]],
  ['none', []],
])('the compose file takes the settings of %s from the environment', (_name, kinds) => {
  const { environment } = parse(withRails(COMPOSE, kinds), { merge: true }).services['x402-payments'];
  const names = Object.keys(environment).filter((name) => /^X402_\w+_(?:RPC|PAY|SIGNER)/.test(name));
  expect(names).toEqual(
    kinds.flatMap(({ prefix }) => ['RPC_URL', 'PAY_TO', 'SIGNER_KEY'].map((one) => `${prefix}_${one}`)),
  );
  for (const name of names) expect(environment[name]).toBe(`\${${name}:-}`);
});
