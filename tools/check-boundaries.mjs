// Checks what Nx cannot: which projects import which, and that each package.json declares exactly these
// imports, because Nx takes its graph from there. `--write` declares them.
import { globSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, posix } from 'node:path';
import {
  allFiles,
  finish,
  importsOf,
  isCode,
  isOwnTest,
  isTest,
  read,
  readJson,
  root,
  withoutComments,
} from './check-sources.mjs';

const allowed = {
  app: ['service', 'platform', 'contract'],
  service: ['product', 'sale', 'caller', 'platform', 'contract'],
  product: ['product', 'sale', 'caller', 'platform', 'contract'],
  sale: ['caller', 'platform', 'contract'],
  caller: ['platform', 'contract'],
  platform: ['platform', 'contract'],
  contract: ['contract'],
  /** What browsers load. Nothing imports it. */
  page: ['contract'],
  testing: ['platform', 'contract'],
};

/** Packages for SQL. Inside a service only a store may import them. */
const sqlPackages = /^(pg|@prisma\/.+|prisma)$/;

/** Test code that is not a test itself. */
const isTestSupport = /(\.conformance|\/testing|\/test-[\w-]+)\.ts$/;

const faults = [];

/** The project of tools and deployment. It may import every project, all for development. */
const WORKSPACE = '.';

function readProjects() {
  const { workspaces } = readJson('package.json');
  const roots = globSync(
    workspaces.map((pattern) => `${pattern}/package.json`),
    { cwd: root },
  );
  const projects = new Map();
  for (const folder of [...roots.map((path) => posix.dirname(path.replaceAll('\\', '/'))), WORKSPACE]) {
    const { name, exports = {}, nx, ...declared } = readJson(`${folder}/package.json`);
    const isProject = folder !== WORKSPACE;
    const tags = (nx?.tags ?? []).filter((tag) => tag in allowed);
    if (isProject && tags.length !== 1)
      faults.push(`${folder}/package.json: needs exactly one tag of ${Object.keys(allowed).join(', ')}`);
    projects.set(name, {
      name,
      root: folder,
      tag: tags[0],
      doors: Object.keys(exports),
      isTested: !isProject || nx?.targets?.test !== undefined,
      dependencies: ownOf(declared.dependencies),
      devDependencies: ownOf(declared.devDependencies),
      /** Imported projects, by the kind of dependency that each must be. */
      imported: { dependencies: new Set(), devDependencies: new Set() },
      config: isProject ? readJson(`${folder}/tsconfig.build.json`) : {},
    });
  }
  return projects;
}

/** The projects of this workspace among dependencies. */
function ownOf(dependencies = {}) {
  return new Map(Object.entries(dependencies).filter(([name]) => name.startsWith('@svc/')));
}

const isIn = (path, { root: folder }) => folder === WORKSPACE || path.startsWith(`${folder}/`);

/** The root comes last, so it gets only files outside of other projects. */
const projectOf = (projects, path) => [...projects.values()].find((project) => isIn(path, project));

/** True if `tsc -b` compiles the file, so its imports need project references. */
function isBuilt(project, path) {
  if (!path.startsWith(`${project.root}/src/`)) return false;
  const endings = (project.config.exclude ?? []).map((pattern) => pattern.replace(/^.*\*/, ''));
  return !endings.some((ending) => path.endsWith(ending));
}

const referencesOf = (folder, config) =>
  (config.references ?? []).map(({ path }) => posix.dirname(posix.join(folder, path)));

/** Checks an import of one project by another: entry point, declaration, direction and reference. */
function checkCrossing({ projects, project, path, at, target }) {
  const [scope, lib, ...rest] = target.split('/');
  const other = projects.get(`${scope}/${lib}`);
  if (!other) return faults.push(`${at}: there is no project ${scope}/${lib}`);
  if (other === project)
    return faults.push(`${at}: inside a project import by a relative path, not ${target}`);

  const door = rest.length === 0 ? '.' : `./${rest.join('/')}`;
  if (!other.doors.includes(door)) faults.push(`${at}: ${other.name} does not export ${door}`);

  const kind = project.root === WORKSPACE || isOwnTest(path) ? 'devDependencies' : 'dependencies';
  project.imported[kind].add(other.name);
  if (!project.dependencies.has(other.name) && !project[kind].has(other.name))
    faults.push(`${at}: ${project.root}/package.json has no ${other.name} in its ${kind}`);

  if (project.root === WORKSPACE) return;
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
  if (project.tag !== 'testing' && isBuilt(project, path) && isTestSupport.test(path))
    faults.push(`${path}: test support belongs in ${project.root}/test, which is not built`);
  if (!project.isTested && /\.(spec|int|e2e|fault)\.ts$/.test(path))
    faults.push(`${project.root}/package.json: has tests, but no target "test" with which Nx runs them`);
  const text = read(path);
  for (const { target, line } of importsOf(text)) {
    const at = `${path}:${line}`;
    if (target.startsWith('@svc/')) checkCrossing({ projects, project, path, at, target });
    else if (target.startsWith('.')) {
      const resolved = posix.join(dirname(path), target);
      if (projectOf(projects, resolved) !== project)
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

/** Reports dependencies that nothing imports. */
function checkDeclared({ root: folder, imported, dependencies, devDependencies }) {
  const at = `${folder}/package.json`;
  for (const name of dependencies.keys()) {
    if (!imported.dependencies.has(name)) faults.push(`${at}: no production code imports ${name}`);
    if (devDependencies.has(name)) faults.push(`${at}: ${name} is in dependencies already`);
  }
  for (const name of devDependencies.keys())
    if (!imported.devDependencies.has(name)) faults.push(`${at}: no test imports ${name}`);
  for (const [name, version] of [...dependencies, ...devDependencies])
    if (version !== '*') faults.push(`${at}: the version of ${name} must be "*", the one of this workspace`);
}

/** Replaces the declared projects by the imported ones, and keeps what comes from the registry. */
function writeDeclared({ root: folder, imported }) {
  const { nx, ...manifest } = readJson(`${folder}/package.json`);
  const { dependencies: production, devDependencies: all } = imported;
  const names = { dependencies: production, devDependencies: all.difference(production) };
  for (const kind of ['dependencies', 'devDependencies']) {
    const others = Object.entries(manifest[kind] ?? {}).filter(([name]) => !name.startsWith('@svc/'));
    const entries = [...others, ...Array.from(names[kind], (name) => [name, '*'])];
    manifest[kind] = Object.fromEntries(entries.toSorted(([a], [b]) => a.localeCompare(b, 'en')));
    if (entries.length === 0) delete manifest[kind];
  }
  writeFileSync(join(root, folder, 'package.json'), `${JSON.stringify({ ...manifest, nx }, null, 2)}\n`);
}

function checkRootReferences(projects) {
  const referenced = referencesOf('.', readJson('tsconfig.build.json'));
  for (const project of projects.values()) {
    if (project.root !== WORKSPACE && !referenced.includes(project.root))
      faults.push(`tsconfig.build.json: has no reference to ${project.root}`);
  }
}

/** Its cases contain imports as text. */
const isSelftest = (path) => /^tools\/(selftest\/|check\.selftest\.mjs$)/.test(path);

const files = allFiles().filter(
  (path) => isCode(path) && basename(path) !== 'vitest.config.ts' && !isSelftest(path),
);
const projects = readProjects();
for (const path of files) checkFile(projects, path);
if (process.argv.includes('--write')) {
  for (const project of projects.values()) writeDeclared(project);
  console.log('Written. Next: node tools/check-lockfile.mjs --write');
  process.exit();
}
for (const project of projects.values()) checkDeclared(project);
checkRootReferences(projects);
finish(faults);
