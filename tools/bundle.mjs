// Bundles the compiled code of each app, with its packages, as `dist/<app>.js` and shared chunks: a process
// that loads thirty files instead of two thousand starts in less time, and with less memory.
import { globSync, readFileSync } from 'node:fs';
import { basename, join, relative, sep } from 'node:path';
import { rolldown } from 'rolldown';

const root = join(import.meta.dirname, '..');
const folder = join(root, 'dist');

/** Packages that load a native or a WebAssembly file from their own folder. */
const UNBUNDLED = /^(?:sharp|tiny-secp256k1|msgpackr-extract)$/;

/** The platform's modules find files relative to themselves, so each keeps the URL that it had. */
const ownUrls = {
  name: 'own-urls',
  transform: {
    filter: { id: /\/(?:libs|apps)\/[\w-]+\/dist\//, code: /import\.meta\.url/ },
    handler: (code, id) => {
      const path = JSON.stringify(relative(folder, id).split(sep).join('/'));
      return code.replaceAll('import.meta.url', `new URL(${path}, import.meta.url).href`);
    },
  },
};

/**
 * Prisma's compiler of queries is text in a module, which V8 would keep twice. As a file it is not kept as
 * text; `Buffer.from` of Prisma takes bytes as well.
 */
const wasmFiles = {
  name: 'wasm-files',
  load: {
    filter: { id: /\.wasm-base64\.mjs$/ },
    handler(id) {
      const [, text] = /^const wasm = "([^"]+)"/.exec(readFileSync(id, 'utf8'));
      const file = this.emitFile({
        type: 'asset',
        name: basename(id, '-base64.mjs'),
        source: Buffer.from(text, 'base64'),
      });
      return `import { readFileSync } from 'node:fs';
        export const wasm = readFileSync(new URL(import.meta.ROLLUP_FILE_URL_${file}));`;
    },
  },
};

/** OpenTelemetry's modules require gRPC by a function that a bundler doesn't know, and so past the bundle. */
const hiddenRequires = {
  name: 'hidden-requires',
  transform: {
    filter: { id: /\/@opentelemetry\/.*\.mjs$/, code: /\b__require\("/ },
    handler: (code) => {
      const names = [...new Set([...code.matchAll(/\b__require\("([^"]+)"\)/g)].map(([, name]) => name))];
      const imports = names.map((name, at) => `import * as required${at} from "${name}";\n`);
      return names.reduce(
        (text, name, at) => text.replaceAll(`__require("${name}")`, `required${at}`),
        imports.join('') + code,
      );
    },
  },
};

/** Nest and others try to load packages that need not be installed. */
const onLog = (level, log, report) => log.code === 'UNRESOLVED_IMPORT' || report(level, log);

/** The module of each app that its bundle is made of, by the path of the bundle. */
export function appBundles() {
  const modules = globSync('apps/*/dist/run.js', { cwd: root });
  return Object.fromEntries(modules.map((path) => [`dist/${path.split(sep)[1]}.js`, path]));
}

/** Writes bundles, given as the path of each and of its module, into the root or a copy of it. */
export async function writeBundles(input, dir = root) {
  const bundles = await rolldown({
    cwd: root,
    input,
    platform: 'node',
    external: UNBUNDLED,
    plugins: [ownUrls, wasmFiles, hiddenRequires],
    onLog,
  });
  await bundles.write({
    dir,
    entryFileNames: '[name]',
    chunkFileNames: 'dist/[name]-[hash].js',
    assetFileNames: 'dist/[name]-[hash][extname]',
    // Names of classes are in logs and errors.
    keepNames: true,
    // V8 keeps the source, at two bytes a character if any character is beyond Latin-1.
    charset: 'ascii',
    comments: false,
  });
  await bundles.close();
}
