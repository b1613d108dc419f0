// Checks which projects import which. Projects and their tags come from Nx. Edges come from the import
// statements, because Nx without a TypeScript plugin finds none.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, posix } from 'node:path';
import {
  allFiles,
  finish,
  importsOf,
  isCode,
  isTest,
  read,
  readJson,
  root,
  withoutComments,
} from './check-sources.mjs';

const allowed = {
  app: ['service', 'platform', 'contract'],
  service: ['platform', 'contract'],
  platform: ['platform', 'contract'],
  contract: ['contract'],
  testing: ['platform', 'contract'],
};

/** Packages for SQL. Inside a service only a store may import them. */
const sqlPackages = /^(pg|@prisma\/.+|prisma)$/;

/** Test code that is not a test itself. */
const isTestSupport = /(\.conformance|\/testing|\/test-[\w-]+)\.ts$/;

const faults = [];

/** Reads the projects from Nx, without its daemon, cloud or analytics. */
function nxGraph() {
  const folder = mkdtempSync(join(tmpdir(), 'svc-graph-'));
  try {
    const file = join(folder, 'graph.json');
    const env = {
      ...process.env,
      NX_DAEMON: 'false',
      NX_NO_CLOUD: 'true',
      NX_TUI: 'false',
      NX_WORKSPACE_ROOT_PATH: root,
    };
    const nx = join(import.meta.dirname, '..', 'node_modules', 'nx', 'dist', 'bin', 'nx.js');
    const result = spawnSync(process.execPath, [nx, 'graph', '--file', file], {
      cwd: root,
      env,
      encoding: 'utf8',
      timeout: 120_000,
    });
    if (!existsSync(file)) throw new Error(`nx graph failed: ${result.stdout}${result.stderr}`);
    return JSON.parse(readFileSync(file, 'utf8')).graph;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readProjects(graph) {
  const projects = new Map();
  for (const { name, data } of Object.values(graph.nodes)) {
    const tags = (data.tags ?? []).filter((tag) => tag in allowed);
    if (tags.length !== 1)
      faults.push(`${data.root}/package.json: needs exactly one tag of ${Object.keys(allowed).join(', ')}`);
    projects.set(name, {
      name,
      root: data.root,
      tag: tags[0],
      doors: Object.keys(readJson(`${data.root}/package.json`).exports ?? {}),
      config: readJson(`${data.root}/tsconfig.build.json`),
    });
  }
  return projects;
}

const projectOf = (projects, path) =>
  [...projects.values()].find((project) => path.startsWith(`${project.root}/`));

/** True if `tsc -b` compiles the file, so its imports need project references. */
function isBuilt(project, path) {
  if (!path.startsWith(`${project.root}/src/`)) return false;
  const endings = (project.config.exclude ?? []).map((pattern) => pattern.replace(/^.*\*/, ''));
  return !endings.some((ending) => path.endsWith(ending));
}

const referencesOf = (folder, config) =>
  (config.references ?? []).map(({ path }) => posix.dirname(posix.join(folder, path)));

/** Checks an import of one project by another: direction, entry point and reference. */
function checkCrossing({ projects, project, path, at, target }) {
  const [scope, lib, ...rest] = target.split('/');
  const other = projects.get(`${scope}/${lib}`);
  if (!other) return faults.push(`${at}: there is no project ${scope}/${lib}`);
  if (other === project)
    return faults.push(`${at}: inside a project import by a relative path, not ${target}`);

  const door = rest.length === 0 ? '.' : `./${rest.join('/')}`;
  if (!other.doors.includes(door)) faults.push(`${at}: ${other.name} does not export ${door}`);

  const anything = /^apps\/[^/]+\/test\//.test(path);
  const forTests = other.tag === 'testing' || door === './testing';
  if (forTests && !isTest(path)) faults.push(`${at}: only tests may import ${target}`);
  if (!forTests && !anything && !allowed[project.tag]?.includes(other.tag)) {
    faults.push(`${at}: ${project.tag} ${project.name} may not import ${other.tag} ${other.name}`);
  }
  if (isBuilt(project, path) && !referencesOf(project.root, project.config).includes(other.root)) {
    faults.push(`${at}: ${project.root}/tsconfig.build.json has no reference to ${other.root}`);
  }
}

function checkFile(projects, path) {
  const project = projectOf(projects, path);
  if (!project) return;
  if (project.tag !== 'testing' && isBuilt(project, path) && isTestSupport.test(path))
    faults.push(`${path}: test support belongs in ${project.root}/test, which is not built`);
  const text = read(path);
  for (const { target, line } of importsOf(text)) {
    const at = `${path}:${line}`;
    if (target.startsWith('@svc/')) checkCrossing({ projects, project, path, at, target });
    else if (target.startsWith('.')) {
      const resolved = posix.join(dirname(path), target);
      if (!resolved.startsWith(`${project.root}/`))
        faults.push(`${at}: ${target} leaves ${project.root}; go through its door`);
    } else if (
      sqlPackages.test(target) &&
      project.tag === 'service' &&
      !isTest(path) &&
      !path.endsWith('.store.ts')
    ) {
      faults.push(`${at}: only a .store file may import ${target}`);
    }
  }
  withoutComments(text)
    .split('\n')
    .forEach((line, index) => {
      if (/^\s*export\s+\*/.test(line))
        faults.push(`${path}:${index + 1}: export * is forbidden, name what is exported`);
    });
}

/** Projects that import each other in a cycle. */
function checkRings(projects, files) {
  const edges = new Map();
  for (const path of files.filter((file) => !isTest(file))) {
    const project = projectOf(projects, path);
    if (!project) continue;
    for (const { target } of importsOf(read(path))) {
      const other = projects.get(target.split('/').slice(0, 2).join('/'));
      if (other && other !== project)
        edges.set(project.name, (edges.get(project.name) ?? new Set()).add(other.name));
    }
  }
  const done = new Set();
  const visit = (name, trail) => {
    if (trail.includes(name))
      return faults.push(`projects import each other in a ring: ${[...trail, name].join(' > ')}`);
    if (done.has(name)) return;
    for (const next of edges.get(name) ?? []) visit(next, [...trail, name]);
    done.add(name);
  };
  for (const name of edges.keys()) visit(name, []);
}

function checkRootReferences(projects) {
  const referenced = referencesOf('.', readJson('tsconfig.build.json'));
  for (const project of projects.values()) {
    if (!referenced.includes(project.root))
      faults.push(`tsconfig.build.json: has no reference to ${project.root}`);
  }
}

const files = allFiles().filter((path) => isCode(path) && basename(path) !== 'vitest.config.ts');
const projects = readProjects(nxGraph());
for (const path of files) checkFile(projects, path);
checkRings(projects, files);
checkRootReferences(projects);
finish(faults);
