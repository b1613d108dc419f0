// Builds the image as an OCI archive, without a container engine, and its SBOM beside it: node
// deploy/image/build.mjs ARCHIVE. Tools that copy images (skopeo, crane, ctr, podman, buildah) can read it.
// The Dockerfile builds the same image. Files have no timestamps, so the same files result in the same image.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { chmod, copyFile, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGzip } from 'node:zlib';
import { USER, makeRoot } from './rootfs.mjs';

const run = promisify(execFile);

/** Layers that rarely change come first. */
const LAYERS = [
  { paths: ['.'], without: ['./svc', './usr/bin/node'] },
  { paths: ['./usr/bin/node'], without: [] },
  { paths: ['./svc'], without: [] },
];

const REPRODUCIBLE = [
  '--sort=name',
  '--mtime=@0',
  '--owner=0',
  '--group=0',
  '--numeric-owner',
  '--format=gnu',
];

/** A stream that computes the digest and the number of bytes. */
function counting() {
  const hash = createHash('sha256');
  const stream = new Transform({
    transform(bytes, _encoding, done) {
      hash.update(bytes);
      stream.bytes += bytes.length;
      done(undefined, bytes);
    },
  });
  stream.bytes = 0;
  stream.digest = () => `sha256:${hash.digest('hex')}`;
  return stream;
}

async function layer(folder, blobs, { paths, without }) {
  const tar = join(blobs, 'layer.tar');
  const left = without.map((path) => `--exclude=${path}`);
  await run('tar', ['-C', folder, ...REPRODUCIBLE, ...left, '-cf', tar, ...paths]);
  const [plain, packed] = [counting(), counting()];
  const file = join(blobs, 'layer.gz');
  await pipeline(createReadStream(tar), plain, createGzip({ level: 6 }), packed, createWriteStream(file));
  const digest = packed.digest();
  await rename(file, join(blobs, digest.slice('sha256:'.length)));
  await rm(tar);
  return { diffId: plain.digest(), digest, bytes: packed.bytes, plainBytes: plain.bytes };
}

async function blob(blobs, value) {
  const text = JSON.stringify(value);
  const digest = createHash('sha256').update(text).digest('hex');
  await writeFile(join(blobs, digest), text);
  return { digest: `sha256:${digest}`, size: Buffer.byteLength(text) };
}

const TYPE = 'application/vnd.oci.image';
const ARCHITECTURE = process.arch === 'arm64' ? 'arm64' : 'amd64';

const configOf = (layers, { version, architecture }) => ({
  architecture,
  os: 'linux',
  created: new Date(0).toISOString(),
  config: {
    User: `${USER}:${USER}`,
    // As in the Dockerfile.
    Env: [
      'PATH=/usr/bin',
      'NODE_ENV=production',
      'HOST=0.0.0.0',
      'MALLOC_ARENA_MAX=1',
      'NODE_OPTIONS=--max-semi-space-size=16',
    ],
    WorkingDir: '/svc',
    Cmd: ['node', 'apps/api-gateway/dist/main.js'],
    StopSignal: 'SIGTERM',
    Labels: {
      'org.opencontainers.image.title': 'svc',
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.licenses': 'Apache-2.0',
    },
  },
  rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
});

/** Fills a folder for blobs, and packs what it returns, an entry of an index, into an archive. */
async function packLayout(archive, fill) {
  const layout = await mkdtemp(join(tmpdir(), 'svc-image-'));
  try {
    const blobs = join(layout, 'blobs/sha256');
    await mkdir(blobs, { recursive: true });
    const entry = await fill(blobs);
    await writeFile(join(layout, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests: [entry] }));
    await writeFile(join(layout, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
    await run('tar', ['-C', layout, ...REPRODUCIBLE, '-cf', resolve(archive), '.']);
    return entry;
  } finally {
    await rm(layout, { recursive: true });
  }
}

/** Packs the root of an image into an archive; returns its digest, and its packed and unpacked sizes. */
export async function packImage(rootfs, archive, architecture = ARCHITECTURE) {
  const layers = [];
  const { digest } = await packLayout(archive, async (blobs) => {
    const { version } = JSON.parse(await readFile(join(rootfs, 'svc/package.json'), 'utf8'));
    for (const part of LAYERS) layers.push(await layer(rootfs, blobs, part));
    const config = await blob(blobs, configOf(layers, { version, architecture }));
    const manifest = await blob(blobs, {
      schemaVersion: 2,
      mediaType: `${TYPE}.manifest.v1+json`,
      config: { mediaType: `${TYPE}.config.v1+json`, ...config },
      layers: layers.map(({ digest: of, bytes }) => ({
        mediaType: `${TYPE}.layer.v1.tar+gzip`,
        digest: of,
        size: bytes,
      })),
    });
    return {
      mediaType: `${TYPE}.manifest.v1+json`,
      ...manifest,
      platform: { os: 'linux', architecture },
      annotations: { 'org.opencontainers.image.ref.name': `svc:${version}` },
    };
  });
  const sum = (part) => layers.reduce((total, one) => total + one[part], 0);
  return { digest, packedBytes: sum('bytes'), bytes: sum('plainBytes') };
}

/** Joins the images of several architectures into one archive; returns the digest of their index. */
export async function joinImages(archives, archive) {
  const { digest } = await packLayout(archive, async (blobs) => {
    const manifests = [];
    for (const one of archives) {
      await run('tar', ['-C', join(blobs, '../..'), '-xf', resolve(one)]);
      const { manifests: found } = JSON.parse(await readFile(join(blobs, '../../index.json'), 'utf8'));
      manifests.push(...found);
    }
    const architectures = manifests.map(({ platform }) => platform.architecture);
    if (new Set(architectures).size < manifests.length)
      throw new Error(`two of the images are for the same architecture: ${architectures.join(', ')}`);
    const mediaType = `${TYPE}.index.v1+json`;
    return { mediaType, ...(await blob(blobs, { schemaVersion: 2, mediaType, manifests })) };
  });
  return digest;
}

async function buildImage(archive) {
  const rootfs = await mkdtemp(join(tmpdir(), 'svc-root-'));
  try {
    await chmod(rootfs, 0o755);
    await makeRoot(rootfs);
    await copyFile(join(rootfs, 'svc/sbom.cdx.json'), archive.replace(/(\.tar)?$/, '.sbom.cdx.json'));
    return await packImage(rootfs, archive);
  } finally {
    await rm(rootfs, { recursive: true });
  }
}

if (import.meta.main) {
  const { digest, bytes, packedBytes } = await buildImage(process.argv[2]);
  console.log(`${digest}: ${Math.round(bytes / 1e6)} MB, ${Math.round(packedBytes / 1e6)} MB packed`);
}
