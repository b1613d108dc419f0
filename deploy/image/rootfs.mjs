// Builds the root file system of the image in a folder: node deploy/image/rootfs.mjs FOLDER. Needs the build,
// and Debian's apt-get, dpkg-deb, tar and strip. The Dockerfile and build.mjs use the same one, so both build
// the same image.
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { collect } from './files.mjs';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');

/** The libraries of node, and the shell that PostgreSQL's initdb needs to start its server. */
const PACKAGES = ['base-files', 'libc6', 'libgcc-s1', 'libstdc++6', 'libatomic1', 'dash'];
/** Documentation, and unused tables of character sets. */
const LEFT_OUT = [
  'usr/share/info',
  'usr/share/man',
  'usr/share/lintian',
  'usr/share/locale',
  'usr/share/gdb',
  'usr/share/menu',
];
/** Traditional folders, as links into /usr. */
const MERGED = ['bin', 'lib', 'lib64', 'sbin'];

export const USER = 1000;

/** Unpacks Debian's packages into the folder, without running their scripts. Returns the packages. */
async function layPackages(folder) {
  const aside = await mkdtemp(join(tmpdir(), 'svc-debs-'));
  await chmod(aside, 0o777);
  try {
    // The package with the licences of GCC's libraries, whose name has its version.
    const { stdout: shown } = await run('apt-cache', ['show', '--no-all-versions', 'libgcc-s1']);
    const [licences] = /\bgcc-\d+-base\b/.exec(shown);
    await run('apt-get', ['download', ...PACKAGES, licences], { cwd: aside });
    const components = [];
    for (const deb of await readdir(aside)) {
      const path = join(aside, deb);
      await run('sh', [
        '-c',
        'dpkg-deb --fsys-tarfile "$1" | tar -x --keep-directory-symlink -C "$2"',
        'sh',
        path,
        folder,
      ]);
      const { stdout } = await run('dpkg-deb', [
        '-W',
        '--showformat=${Package} ${Version} ${Architecture}',
        path,
      ]);
      const [name, version, arch] = stdout.split(' ');
      components.push({
        type: 'library',
        name,
        version,
        purl: `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${arch}`,
      });
    }
    return components.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  } finally {
    await rm(aside, { recursive: true });
  }
}

/** Fills an empty folder with the root of the image. */
export async function makeRoot(folder) {
  for (const name of MERGED) {
    await mkdir(join(folder, 'usr', name), { recursive: true });
    await symlink(`usr/${name}`, join(folder, name));
  }
  const system = await layPackages(folder);
  const machine = process.arch === 'arm64' ? 'aarch64' : 'x86_64';
  const unused = [...LEFT_OUT, `usr/lib/${machine}-linux-gnu/gconv`];
  for (const path of unused) await rm(join(folder, path), { recursive: true, force: true });
  await rm(join(folder, 'usr/bin/sh'), { force: true });
  await symlink('dash', join(folder, 'usr/bin/sh'));
  await writeFile(join(folder, 'etc/passwd'), `root:x:0:0::/:/bin/sh\nsvc:x:${USER}:${USER}::/svc:/bin/sh\n`);
  await writeFile(join(folder, 'etc/group'), `root:x:0:\nsvc:x:${USER}:\n`);
  // Mount points of volumes. An engine gives an empty volume the mode of its folder, so any user may write to
  // it.
  await mkdir(join(folder, 'var/lib/svc'), { recursive: true });
  await chmod(join(folder, 'var/lib/svc'), 0o1777);
  await mkdir(join(folder, 'tmp'), { recursive: true });
  await chmod(join(folder, 'tmp'), 0o1777);
  const node = join(folder, 'usr/bin/node');
  await run('strip', ['-o', node, join(root, 'node_modules/node/bin/node')]);
  await chmod(node, 0o755);
  // For `kubectl exec`. The image has no `env`, with which the program itself begins.
  const svcctl = '#!/bin/sh\nexec node /svc/tools/svcctl.mjs "$@"\n';
  await writeFile(join(folder, 'usr/bin/svcctl'), svcctl, { mode: 0o755 });
  const sbom = await collect(join(folder, 'svc'));
  sbom.components.push(...system);
  await writeFile(join(folder, 'svc/sbom.cdx.json'), JSON.stringify(sbom));
  return sbom;
}

if (import.meta.main) {
  const { components } = await makeRoot(process.argv[2]);
  console.log(`${components.length} packages`);
}
