import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'svc-affected-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));

/** Every project of `apps` and `libs` with the projects that it needs directly. */
const projects = globSync('{apps,libs}/*/package.json', { cwd: root }).map((path) => {
  const { name, dependencies, devDependencies, nx } = readJson(join(root, path));
  const needs = [...Object.keys({ ...dependencies, ...devDependencies }), ...(nx.implicitDependencies ?? [])];
  return { name, needs, isTested: nx.targets?.test !== undefined };
});

/** A project and all that depend on it. */
function withDependants(name, found = new Set()) {
  if (found.has(name)) return found;
  found.add(name);
  for (const project of projects.filter(({ needs }) => needs.includes(name)))
    withDependants(project.name, found);
  return found;
}

/** The projects of `apps` and `libs` whose tests Nx would run after a change of the file. */
function testedAfter(file) {
  const nx = join(root, 'node_modules/nx/dist/bin/nx.js');
  const output = join(folder, 'graph.json');
  const args = [nx, 'affected', '--target=test', `--files=${file}`, `--graph=${output}`];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: root,
    encoding: 'utf8',
    timeout: 60_000,
  });
  if (status !== 0) throw new Error(`nx failed: ${stdout}${stderr}`);
  const tasks = Object.values(readJson(output).tasks.tasks);
  const tests = tasks.filter(({ target }) => target.target === 'test');
  return new Set(tests.map(({ target }) => target.project).filter((name) => name !== 'svc'));
}

describe('nx affected -t test', () => {
  it('selects the tests of a changed library and of its dependants, and no others', () => {
    const dependants = withDependants('@svc/limiter');
    const expected = projects.filter(({ name, isTested }) => isTested && dependants.has(name));
    expect(expected.length).toBeLessThan(projects.length / 2);
    expect(testedAfter('libs/limiter/src/index.ts')).toEqual(new Set(expected.map(({ name }) => name)));
  });

  it('selects only the tests of one library if one of its tests has changed', () => {
    expect(testedAfter('libs/openapi/src/openapi.spec.ts')).toEqual(new Set(['@svc/openapi']));
  });
});
