// The workflows under .github: what they may do, and that the commands of their steps exist.
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ROOT } from './documented.mjs';
import { tool } from './tools.mjs';

const PATHS = globSync('.github/workflows/*.yml', { cwd: ROOT }).toSorted();
const WORKFLOWS = PATHS.map((path) => [path, readFileSync(ROOT + path, 'utf8')]);
const { scripts } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));

const jobsOf = (text) => Object.entries(parse(text).jobs);
const stepsOf = (text) => jobsOf(text).flatMap(([, { steps = [] }]) => steps);
const imageOf = ({ container }) => container?.image ?? container;

/** Programs that runners have, or that an earlier step installs. */
const INSTALLED = /^(?:gh release create |cosign sign |apt-get update$|npm ci(?: --ignore-scripts)?$)/;

/** The file or script that a step's command runs, if the repository has to have it. */
function commandFault(command) {
  if (INSTALLED.test(command)) return undefined;
  const [, script] = /^npm run (?:--silent )?([\w:-]+)/.exec(command) ?? [];
  if (script) return scripts[script] ? undefined : `there is no script ${script}`;
  const [, file] = /^(?:node )?([\w./-]+)/.exec(command) ?? [];
  return file && existsSync(ROOT + file) ? undefined : `there is no file ${file}`;
}

it('tests, nightly tests and releases have workflows', () => {
  const names = PATHS.map((path) => path.replace('.github/workflows/', ''));
  expect(names).toEqual(expect.arrayContaining(['ci.yml', 'nightly.yml', 'release.yml']));
});

it('actionlint accepts every workflow', async () => {
  expect(await tool('actionlint', ['-no-color', ...PATHS.map((path) => ROOT + path)])).toBe('');
}, 600_000);

describe.each(WORKFLOWS)('%s', (_path, text) => {
  it('runs only actions and images that are pinned by hash', () => {
    const actions = [
      ...stepsOf(text).flatMap(({ uses }) => uses ?? []),
      ...jobsOf(text).flatMap(([, { uses }]) => uses ?? []),
    ];
    for (const action of actions) expect(action).toMatch(/^\.\/\.github\/|^[\w.-]+\/[\w./-]+@[0-9a-f]{40}$/);
    for (const [, uses] of text.matchAll(/uses: (?!\.\/)(.*)/g)) expect(uses).toMatch(/ # v\d+\.\d+\.\d+$/);
    const images = jobsOf(text).flatMap(([, job]) => imageOf(job) ?? []);
    for (const image of images) expect(image).toMatch(/^[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}$/);
  });

  it('gives no permission by default, and each job its own', () => {
    expect(parse(text).permissions).toEqual({});
    for (const [, job] of jobsOf(text)) expect(Object.keys(job.permissions ?? {})).not.toEqual([]);
  });

  it('leaves no token in a checkout, and puts no expression into a command', () => {
    const steps = stepsOf(text);
    const checkouts = steps.filter(({ uses }) => uses?.startsWith('actions/checkout@'));
    for (const { with: inputs } of checkouts) expect(inputs['persist-credentials']).toBe(false);
    for (const { run } of steps) expect(run ?? '').not.toContain('${{');
  });

  it('does not run with permissions for a stranger’s changes', () => {
    expect(Object.keys(parse(text).on)).not.toContain('pull_request_target');
    expect(Object.keys(parse(text).on)).not.toContain('workflow_run');
  });

  it('has one command in each step, which exists', () => {
    const commands = stepsOf(text).flatMap(({ run }) => run?.trim() ?? []);
    expect(commands.filter((command) => command.includes('\n'))).toEqual([]);
    expect(commands.map(commandFault).filter(Boolean)).toEqual([]);
  });
});

it('only jobs of the release may write, and they run neither tests nor install scripts', () => {
  for (const [path, text] of WORKFLOWS) {
    for (const [name, { permissions, steps = [] }] of jobsOf(text)) {
      if (!Object.values(permissions).includes('write')) continue;
      expect(`${path} ${name}`).toMatch(/^\.github\/workflows\/release\.yml (?:publish|release)$/);
      const commands = steps.flatMap(({ run }) => run ?? []).join('\n');
      expect(commands).not.toMatch(/npm ci$|npm (?:run|test)|\.ci\/run/m);
    }
  }
});

it('every part of the nightly tests has a job', () => {
  const { stdout } = spawnSync(process.execPath, [`${ROOT}tools/nightly.mjs`, '--list'], {
    encoding: 'utf8',
  });
  const parts = Array.from(stdout.matchAll(/^(\S+)/gm), ([, part]) => part);
  const [, nightly] = WORKFLOWS.find(([path]) => path.endsWith('nightly.yml'));
  expect(parse(nightly).jobs.part.strategy.matrix.part).toEqual(parts);
});

it('a tag is refused that is not the version of the packages', () => {
  const check = (tag) =>
    spawnSync(process.execPath, [`${ROOT}tools/release/check-tag.mjs`, tag], { encoding: 'utf8' });
  const { version } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));
  expect(check(`v${version}`)).toMatchObject({ status: 0 });
  expect(check(`v${version}-x`)).toMatchObject({ status: 1 });
});
